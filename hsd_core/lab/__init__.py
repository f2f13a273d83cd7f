"""What measures stacks and makes what they need: it uses the engine, and only the command line and the page use it."""
