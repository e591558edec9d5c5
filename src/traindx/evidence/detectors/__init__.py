"""What can be seen in a run: one finding per file, ordered by area."""
