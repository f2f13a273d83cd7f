"""What comes in from the network: what is let in, checked, counted and headed before Gradio sees it."""
