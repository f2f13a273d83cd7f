"""A run as one HTML file: its scripts as one (`bundle`), and the file with the run's records (`run_page`)."""
