"""The tabs of the page, a folder each: what is seen, its routes, and its texts."""
