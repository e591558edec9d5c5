"""One log format per file; `traindx.core.units` finds them."""
