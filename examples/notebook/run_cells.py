"""Runs the code cells of training.ipynb one after the other in IPython, for where no Jupyter is installed."""

# mypy: ignore-errors

import json
from pathlib import Path

from IPython.terminal.interactiveshell import TerminalInteractiveShell

shell = TerminalInteractiveShell.instance()
for cell in json.loads(Path("training.ipynb").read_text(encoding="utf-8"))["cells"]:
    if cell["cell_type"] == "code":
        shell.run_cell("".join(cell["source"]), store_history=True).raise_error()
