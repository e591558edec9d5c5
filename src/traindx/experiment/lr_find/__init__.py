"""The learning-rate range test: what the loss did while the rate was raised, and what that supports."""
