"""Callbacks as each framework expects them, one module each; every one needs its framework and nothing else.

Each begins a recording as `traindx.watch` does, joins the one that `traindx run` made, stops the training by
the framework's own way where `stop_on` asks for it, and prints the diagnosis at the end.
"""
