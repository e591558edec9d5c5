"""What readers share: files, lines, tables, and the way from a log to a Run."""
