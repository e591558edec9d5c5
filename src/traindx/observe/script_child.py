"""`python -m traindx.observe.script_child train.py ...`: a script that is started again for each rank."""

from __future__ import annotations

import contextlib
import sys

from traindx.observe.children import observe
from traindx.observe.program import find_module, find_script, runner


def main() -> None:
    """Run the script, or with -m the module, as Python would, and record what it trains."""
    with contextlib.suppress(Exception):
        observe(launcher_trains=True)
    words = sys.argv[1:]
    module = words[:1] == ["-m"]
    name, *args = words[1:] if module else words
    program = find_module(name, tuple(args)) if module else find_script(name, tuple(args))
    runner(program)()


if __name__ == "__main__":
    main()
