"""One intervention per file."""
