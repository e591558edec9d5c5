"""Measurements at the first step of a training, which they leave as it was."""
