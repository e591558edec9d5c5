"""The fourth author's logs: written from the five guides alone."""
