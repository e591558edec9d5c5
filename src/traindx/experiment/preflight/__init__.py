"""The checks before the long run: short arms of the training, and what each of them shows."""
