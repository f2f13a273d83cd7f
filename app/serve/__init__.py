"""The engine for many visitors: what may be asked, who may be served when, and the run itself."""
