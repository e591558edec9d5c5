"""Trials: the user's training run again, changed in one thing, beside itself unchanged."""
