"""Raw results as files, and the tables that are made of them."""
