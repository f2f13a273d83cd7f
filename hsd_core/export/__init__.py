"""A run as one HTML file: what the page is sent of it (`records`), its scripts as one (`bundle`), the file (`page`)."""
