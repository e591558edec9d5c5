"""Findings in the layers of a recorded training."""
