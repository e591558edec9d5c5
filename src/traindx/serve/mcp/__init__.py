"""The MCP server: the commands as tools of an assistant. Loaded by `traindx mcp` alone."""
