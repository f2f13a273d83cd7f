"""What is known of a stack: costs, acceptances, lengths of texts; read from and written to JSON."""
