"""The items of the checklist, one per file."""
