"""The nouns, the canonical names, the settings, and how a unit declares itself. Imports nothing above it."""
