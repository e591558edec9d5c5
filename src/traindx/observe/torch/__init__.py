"""Records PyTorch. Imported only once torch itself is."""
