"""Findings about the training loss and the metrics of the training."""
