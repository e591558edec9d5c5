"""Findings about inputs, labels, and the order in which they come."""
