"""Writes a new detector: `make new-detector NAME=loss_repeats AREA=loss`.

The file holds everything: its docstring is the page, `detect` measures, `fires` and `silent` are the cases.
It works as it is written, so that its tests pass before the first change; then replace what it measures.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from traindx.core.units import detectors

TEMPLATE = '''"""The loss ends far above its median.

Found when the last value of the loss is {{end_ratio}} times the median of all values, or more. Replace this
page by what your detector finds, why that matters, and when it is wrong.

Silent under {{min_points}} values.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="{title}", family="{name}")


def detect(loss: Curve, *, end_ratio: float = 50.0, min_points: int = 20) -> Detected:
    last, median = float(loss.y[-1]), float(np.median(loss.y))
    if median <= 0 or last < end_ratio * median:
        return None
    sentence = f"The loss ends at {{last:.4g}}, its median is {{median:.4g}}."
    # Without a symptom a finding is a sign: evidence for or against causes, and no problem by itself.
    return Finding(sentence, None, "low", float(loss.x[-1]), numbers={{"last_value": last}})


def fires() -> Runs:
    yield run({{"loss": [*decay(50, 2.0, 1.0), 200.0]}})


def silent() -> Runs:
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
    units = {unit.id: unit for unit in detectors()}
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
    path.write_text(TEMPLATE.format(name=name, title=name.replace("_", " ").capitalize()), encoding="utf-8")
    return path


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
