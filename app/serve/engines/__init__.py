"""Where the engine works: in the page's own process, or in one of its own that may die without the page."""
