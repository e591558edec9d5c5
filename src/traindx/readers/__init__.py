"""One log format per file; `traindx.units` finds them."""
