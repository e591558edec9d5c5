"""`traindx treat`: diagnose, plan, try remedies in pairs, edit, prove."""
