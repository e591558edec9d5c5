"""What a page is made of: its markup, its style sheet and its scripts."""
