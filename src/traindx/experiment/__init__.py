"""Trials: the user's training run again with one thing changed, compared with the unchanged run."""
