"""Detectors of the weights of a checkpoint."""
