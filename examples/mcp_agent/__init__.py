"""An agent whose tools are those of MCP servers."""
