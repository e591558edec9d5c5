"""The changes that can be made at run time, by subject."""
