"""Where traindx appears inside other programs: notebooks."""
