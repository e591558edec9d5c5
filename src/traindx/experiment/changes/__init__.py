"""One change per file."""
