"""Change one thing in an unmodified training while it runs, and say what was changed."""
