"""The clinic: its truth is consistent, and its fast half is diagnosed no worse than before."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from clinic.__main__ import measure
from clinic.interviews import USERS, ask, most_telling
from clinic.patients import patient
from clinic.truth import HEALTHY, HERE, Script, scripts, tables

from traindx.interview.next_question import MOST
from traindx.knowledge.catalogue import causes, symptoms

# What passes today; raised as detectors land.
FIRST, QUIET = 0.6, 0.9
INTERVIEWED = 8
# Of a pair: how many lines may differ, counted in both scripts together.
FAULT_LINES = 12
# Not a trouble of a training.
BENIGN = {"converged"}

ALL = scripts()
PAIRS = sorted(script.path.parent.relative_to(HERE) for script in ALL if script.name.endswith("/faulty"))


def test_every_script_has_its_truth() -> None:
    known = {script.path for script in ALL}
    there = {p for p in HERE.glob("*/**/*.py") if ".runs" not in p.parts and p.name != "__init__.py"}
    assert there == known


def test_every_cause_has_a_case() -> None:
    newer = {cause.id for cause in causes().values() if cause.kind_of}
    wanted = set(causes()) - BENIGN - newer
    assert {script.cause for script in ALL} - {HEALTHY} - newer == wanted


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_truth_of_a_script(script: Script) -> None:
    known = set(causes())
    assert script.right <= known | {HEALTHY}
    assert script.healthy or script.symptom in set(symptoms())
    for line in script.lines:
        assert len(replace(script, lines=(line,)).line_numbers()) == 1, line
    assert script.family


def test_other_causes_are_accepted_with_a_reason() -> None:
    for cases in tables().values():
        assert all(told.get("why") for told in cases.values() if told.get("accepts"))


@pytest.mark.parametrize("case", PAIRS, ids=str)
def test_twins_differ_in_the_fault_only(case: Path) -> None:
    faulty, healthy = (
        "".join(file.read_text("utf-8") for file in sorted((HERE / case).glob(f"{kind}.*")))
        for kind in ("faulty", "healthy")
    )
    changed = [line for line in difflib.ndiff(faulty.splitlines(), healthy.splitlines()) if line[0] in "+-"]
    assert 0 < len(changed) <= FAULT_LINES


def test_truth_files_are_toml() -> None:
    for file in HERE.rglob("truth.toml"):
        assert tomllib.loads(file.read_text(encoding="utf-8"))


def test_fast_half(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    chosen = [script for script in ALL if script.fast]
    scores = measure(chosen, jobs=os.cpu_count() or 1, runs=tmp_path)
    faulty = [score for score in scores if not score.healthy]
    healthy = [score for score in scores if score.healthy]
    assert not [score.name for score in scores if score.fault]
    assert sum(score.first for score in faulty) >= FIRST * len(faulty), [
        s.name for s in faulty if not s.first
    ]
    assert sum(score.right for score in healthy) >= QUIET * len(healthy), [s.alarms for s in healthy]
    the_interview_helps([script for script in chosen if not script.healthy][:INTERVIEWED], tmp_path)


def the_interview_helps(ill: list[Script], runs: Path) -> None:
    """Truthful users of these recordings are told the right cause more often than without a question."""
    patients = [replace(patient(script, runs), efforts=frozenset(USERS["careful"])) for script in ill]
    asked = [ask(who, "most telling", most_telling) for who in patients]
    unasked = [ask(who, "nothing asked", most_telling, 0) for who in patients]
    assert sum(one.first for one in asked) >= max(0.5 * len(ill), sum(one.first for one in unasked) + 1)
    assert all(len(one.asked) <= MOST for one in asked)
