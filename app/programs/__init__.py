"""The page for programs: its named endpoints, which are also its MCP tools, and what they answer."""
