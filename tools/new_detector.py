"""Writes a new detector: `make new-detector NAME=loss_repeats AREA=loss`.

The file holds everything: its docstring is the page, `detect` measures, `fires` and `silent` are the cases.
It works as it is written, so that its tests pass before the first change; then replace what it measures.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

# Where units are found; all other places are read from a detector that is there.
UNITS = "traindx.core.units"
MODEL = "loss_frozen"

TEMPLATE = '''"""The loss ends far above its median.

Seen when the last value of the loss is `ratio` times the median of all values, or more. Replace this page by
what your detector sees, why that matters, and when it is wrong.

Silent under `points` values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

{imports}

DETECTOR = Detector(title="{title}", needs=("loss",), family="{name}")


def detect(case: Case, *, ratio: float = 50.0, points: int = 20) -> Finding | Skipped | None:
    loss = case.loss
    if loss is None or len(loss) < points:
        return Skipped(f"at least {{points}} values of the training loss")
    last, median = float(loss.y[-1]), float(np.median(loss.y))
    if median <= 0 or last < ratio * median:
        return None
    text = f"The loss ends at {{last:.4g}}, its median is {{median:.4g}}."
    # Without a symptom a finding is a sign of low severity: it weighs on causes and is no problem by itself.
    return Finding(text, None, "low", float(loss.x[-1]), series=loss.name, numbers={{"last_value": last}})


def fires() -> Iterator[Run]:
    from {sketch} import decay, run

    yield run({{"loss": [*decay(50, 2.0, 1.0), 200.0]}})


def silent() -> Iterator[Run]:
    from {sketch} import decay, run

    yield run({{"loss": decay(50, 2.0, 1.0)}})
    yield run({{"loss": [1.0, 200.0]}})
'''
NEXT = """Wrote {path}. Now:
1. Write what it measures, and its page: docs/adding-a-detector.md.
2. Give it cases: runs on which it must fire (fires) and must not (silent).
       .venv/bin/python -m pytest tests/detectors -k {name}
3. Say what it is evidence for: a row in the page of each cause that it supports or contradicts
   (docs/adding-a-cause.md).
4. make docs writes its page; make score shows what it changes."""


def write(name: str, area: str) -> Path:
    """The new detector's file; a ValueError says what does not fit."""
    units = {unit.id: unit for unit in import_module(UNITS).detectors()}
    folders = {unit.area: _file(import_module(unit.module)).parent for unit in units.values()}
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)+", name):
        raise ValueError(f"NAME must say what is seen, in small letters: loss_repeats, not '{name}'.")
    if name in units:
        raise ValueError(f"There is a detector {name} already: {_file(import_module(units[name].module))}.")
    if area not in folders:
        raise ValueError(f"AREA must be one of {', '.join(sorted(folders))}, not '{area}'.")
    path = folders[area] / f"{name}.py"
    if path.exists():
        raise ValueError(f"{path} exists already.")
    path.write_text(_text(name, import_module(units[MODEL].module)), encoding="utf-8")
    return path


def _text(name: str, model: ModuleType) -> str:
    words = name.replace("_", " ").capitalize()
    homes: dict[str, list[str]] = {}
    for needed in ("Case", "Detector", "Finding", "Run", "Skipped"):
        homes.setdefault(_home(model, needed), []).append(needed)
    imports = "\n".join(f"from {home} import {', '.join(names)}" for home, names in sorted(homes.items()))
    return TEMPLATE.format(name=name, title=words, imports=imports, sketch=_home(model, "run"))


def _home(model: ModuleType, name: str) -> str:
    """The module that the model detector imports a name from."""
    for node in ast.walk(ast.parse(inspect.getsource(model))):
        if isinstance(node, ast.ImportFrom) and any(one.name == name for one in node.names):
            return str(node.module)
    raise LookupError(f"{model.__name__} does not import {name}: name another MODEL in {__file__}")


def _file(module: Any) -> Path:
    return Path(module.__file__)


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: make new-detector NAME=loss_repeats AREA=loss")
    try:
        path = write(*sys.argv[1:])
    except ValueError as error:
        raise SystemExit(str(error)) from None
    print(NEXT.format(path=path, name=path.stem))


if __name__ == "__main__":
    main()
