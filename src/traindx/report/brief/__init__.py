"""What was measured of a training as one page for a context window: a line for each fact, with a handle."""
