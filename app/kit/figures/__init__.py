"""The figures that people study: what they show, how they are drawn, and the notes beside them."""
