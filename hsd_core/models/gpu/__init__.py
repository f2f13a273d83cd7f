"""What a GPU needs beside `lean`: passes that are replayed as one, and copies that are waited for once."""
