"""`traindx confirm`: experiments that distinguish the likely causes of a problem."""
