"""What is watched of PyTorch. Loaded only once torch itself is."""
