"""An example of a system, in the tests alone."""
