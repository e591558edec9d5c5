"""Recordings that somebody damaged: everything that reads one says what it can, and nothing raises."""

from __future__ import annotations

import io
import os
import pickle
import random
from contextlib import suppress
from pathlib import Path

import pytest

from tests.hostile import mutants
from traindx.comparison.compare import TooFew, compare
from traindx.comparison.metric import NothingShared
from traindx.comparison.subjects import subjects
from traindx.core.nouns import Diagnosis, Run
from traindx.engine import case_of, diagnose
from traindx.experiment.edit import edit_for_all
from traindx.experiment.lr_find.scripts import _trained_with
from traindx.experiment.recorded_program import CannotRepeat, program_of
from traindx.experiment.treat.candidates import candidates_by_cause
from traindx.interview.session import Interview
from traindx.logs.find import find_runs
from traindx.report.comparison import comparison_markdown, render_comparison
from traindx.report.comparison_json import comparison_document
from traindx.report.diagnosis import html_document, markdown, render_diagnosis
from traindx.report.diagnosis_json import diagnosis_document
from traindx.report.layout import Screen
from traindx.report.runs import render
from traindx.source.script import read_script

SCREEN = Screen(width=100, unicode=True, colour=False)


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return mutants.recording(tmp_path)


@pytest.fixture
def sound(tmp_path: Path) -> Run:
    return find_runs([str(mutants.recording(tmp_path / "sound"))]).runs[0]


def printed(lines: list[str]) -> None:
    print("\n".join(lines), file=io.TextIOWrapper(io.BytesIO(), "utf-8"), flush=True)


def looked_at(folder: Path) -> list[tuple[Run, Diagnosis]]:
    """What the commands that read a recording do with it."""
    found = find_runs([str(folder)])
    printed(list(render(found, everything=True, screen=SCREEN)))
    told = []
    for run in found.runs:
        diagnosis = diagnose(run)
        printed(list(render_diagnosis(diagnosis, everything=True, screen=SCREEN)))
        diagnosis_document([diagnosis], found.skipped)
        pickle.dumps(dict(run.facts))
        told.append((run, diagnosis))
    for note in found.skipped:
        assert "\n" not in note.text
        assert "please report" not in note.text
    return told


def looked_at_closely(folder: Path, sound: Run) -> None:
    """The same and what costs more: pages, interviews, comparisons, the beginnings of treatments."""
    script = read_script(folder.parents[1] / "train.py")
    for run, diagnosis in looked_at(folder):
        markdown([diagnosis]).encode()
        html_document([diagnosis])
        Interview(case_of(run)).diagnosis()
        for course in candidates_by_cause(diagnosis, script):
            for candidate in course.candidates:
                edit_for_all(script, candidate.changes, run=run)
        _trained_with(run)
        with suppress(CannotRepeat):
            program_of(run)
        try:
            told = compare(subjects([sound, run], [diagnose(sound), diagnosis]))
        except (NothingShared, TooFew):
            continue
        comparison_document(told, (), [])
        printed(list(render_comparison(told, everything=True, screen=SCREEN)))
        comparison_markdown(told).encode()


def test_the_recording_is_sound(folder: Path, sound: Run) -> None:
    looked_at_closely(folder, sound)
    [(run, diagnosis)] = looked_at(folder)
    assert not run.notes
    # Both are in the script, and measured.
    assert diagnosis.problems[0].hypotheses[0].cause in ("missing_zero_grad", "double_activation")


@pytest.mark.parametrize("name", ["run.json", "rank-0.jsonl"])
@pytest.mark.parametrize("seed", range(8))
def test_damage_raises_nothing(folder: Path, name: str, seed: int) -> None:
    many(folder, name, range(2 * seed, 2 * seed + 2), None)


@pytest.mark.long
@pytest.mark.parametrize("name", ["run.json", "rank-0.jsonl"])
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_much_damage_raises_nothing(folder: Path, name: str, seed: int) -> None:
    many(folder, name, range(1000 * seed, 1000 * seed + 100), None)


@pytest.mark.long
@pytest.mark.parametrize("name", ["run.json", "rank-0.jsonl"])
@pytest.mark.parametrize("seed", range(2000, 2005))
def test_damage_raises_nothing_anywhere(folder: Path, sound: Run, name: str, seed: int) -> None:
    many(folder, name, range(1000 * seed, 1000 * seed + 30), sound)


def many(folder: Path, name: str, seeds: range, sound: Run | None) -> None:
    path = folder / name
    data = path.read_bytes()
    for seed in seeds:
        rng = random.Random(seed)
        change = mutants.other_value if name == "run.json" else mutants.other_line
        path.write_bytes(change(data, rng) if rng.random() < 0.8 else mutants.other_bytes(data, rng))
        try:
            looked_at(folder) if sound is None else looked_at_closely(folder, sound)
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error


def test_a_number_of_processes_that_is_none(folder: Path) -> None:
    """Only a number above one says that several processes trained."""
    path = folder / "run.json"
    data = path.read_text()
    for word in ("Infinity", "NaN", '"two"', "[[1]]", "{}", "1" + "0" * 6000, "null", "-3", "true"):
        path.write_text(data.replace('"world_size": 1', f'"world_size": {word}'))
        run = find_runs([str(folder)]).runs[0]
        assert program_of(run)[0].name == "train.py"


def test_a_fact_nested_deeper_than_any_is_left_out_and_named(folder: Path) -> None:
    path = folder / "run.json"
    deep = "[" * 500 + "]" * 500
    path.write_text(path.read_text().replace('"world_size": 1', f'"world_size": {deep}'))
    run = find_runs([str(folder)]).runs[0]
    assert "world_size" not in run.facts
    assert run.facts["command"] == "python train.py"
    assert [note.text for note in run.notes] == ["nested too deeply, and left out: world_size"]


def test_the_script_of_a_recording_is_a_pipe(folder: Path) -> None:
    script = folder.parents[1] / "train.py"
    script.unlink()
    os.mkfifo(script)
    run = find_runs([str(folder)]).runs[0]
    assert case_of(run).script is None
    with pytest.raises(CannotRepeat, match="it is a pipe, not a file"):
        program_of(run)
