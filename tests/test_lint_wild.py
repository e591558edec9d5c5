"""Any Python at all: following a script and looking at it never fails, and takes a bounded time."""

from __future__ import annotations

import ast
import random
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traindx.core.nouns import Finding, Place, Skipped, Unreadable
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import places
from traindx.source import Script
from traindx.source.anchors import FINDERS, anchor
from traindx.source.edits import edited
from traindx.source.script import parse_script
from traindx.testing.sketch import run

UNITS = [unit for unit in detectors() if unit.needs == ("script",)]
SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
ODD = (
    "x = x",
    "def f(*a, **k): return f(*a, **k)",
    "class A(A): pass",
    "model = model(model)",
    "for x in x: x = [x, *x]",
    "while True: loss.backward()",
    "optimizer.step(optimizer.step)",
    "lambda: (yield)",
    "del model",
    "optimizer = optimizer or None",
    "match model:\n    case [a, *b]: b.step()\n    case _: pass",
    "async def g():\n    async for x in y: await x",
    "x: int",
    "nn = torch = optim = None",
    "a = b = {**a, 'x': a}",
    "try:\n    loss.backward()\nexcept* ValueError:\n    pass",
    "type X = int",
    "x = 10 ** 10 ** 10",
    "x = [1] * 10 ** 9",
    "print(f'{loss.item():{width}}')",
)


def looked(script: Script) -> Iterable[Finding]:
    case = Case(run({}), script)
    for unit in UNITS:
        found = places(unit, case)
        if not isinstance(found, Skipped):
            yield from found


def check(text: str) -> None:
    try:
        script = parse_script(text)
    except Unreadable:
        return
    lines = len(script.main.lines)
    for finding in looked(script):
        assert finding.places, finding.text
        for place in finding.places:
            assert place.line is not None
            assert 1 <= place.line <= lines
        if finding.edits:
            ast.parse(edited(text, finding.edits))
    for name in FINDERS:
        found = anchor(script, name)
        assert found is None or (isinstance(found, Place) and 1 <= (found.line or 0) <= lines)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, len(SCRIPTS) - 1), st.integers(0, 2**32 - 1), st.integers(0, 12))
def test_scripts_with_lines_taken_out_and_put_in(number: int, seed: int, changes: int) -> None:
    draw = random.Random(seed)
    lines = SCRIPTS[number].read_text(encoding="utf-8").split("\n")
    for _ in range(changes):
        at = draw.randrange(len(lines) + 1)
        if draw.random() < 0.5 and at < len(lines):
            indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
            lines[at] = indent + "pass"
        else:
            near = lines[min(at, len(lines) - 1)]
            indent = near[: len(near) - len(near.lstrip())]
            lines[at:at] = [indent + line for line in draw.choice(ODD).split("\n")]
    check("\n".join(lines))


@pytest.mark.parametrize("text", ODD)
def test_odd_statements(text: str) -> None:
    check(text)


def test_a_script_that_leads_nowhere_is_left_in_time() -> None:
    calls = "".join(f"def f{i}(x):\n    f{i + 1}(x)\n    f{i + 1}(x)\n" for i in range(40))
    start = time.monotonic()
    script = parse_script(calls + "def f40(x): x.backward()\nf0(1)\n")
    assert not script.trace.complete
    assert time.monotonic() - start < 10
    assert list(looked(script)) == []


def test_deep_nesting_is_no_trouble() -> None:
    check("x = " + "(" * 80 + "1" + ")" * 80)
    check("".join("    " * i + "if x:\n" for i in range(60)) + "    " * 60 + "loss.backward()\n")
    check("y = " + "+".join(["x"] * 3000))
