"""The places of a PyTorch training that can be touched. Imported once torch is there."""
