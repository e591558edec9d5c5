"""Findings about the model, its outputs, its loss function and its settings."""
