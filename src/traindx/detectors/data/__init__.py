"""What the batches of a recorded training tell of its data."""
