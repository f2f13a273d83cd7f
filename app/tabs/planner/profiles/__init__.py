"""What may be asked, and the profiles that plans are sought in: where they come from, and how they are scaled."""
