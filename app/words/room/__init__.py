"""What the server says of a class."""
