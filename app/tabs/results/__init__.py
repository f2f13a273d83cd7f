"""The Results tab: what was measured where (`bundled`), the quick set here and now (`quick`), and what shows both."""
