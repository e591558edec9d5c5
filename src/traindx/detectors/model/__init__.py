"""What model, output and loss of a recorded training tell of each other."""
