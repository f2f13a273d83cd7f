"""What those who run the server are told of it: how it is, its figures, its log. Never what visitors write."""
