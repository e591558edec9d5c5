"""`python -m traindx` is the command `traindx`."""

from traindx.cli import main

main()
