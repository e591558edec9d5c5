"""Settings, answers, casebooks and other documents that are damaged: a message or what is left, no more."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import traindx as api
from tests.hostile import mutants
from tests.hostile.commands import traindx
from traindx.comparison.neighbour_config import settings_beside
from traindx.core import settings
from traindx.core.documents import Damaged, json_of, shallow, toml_of, yaml_of
from traindx.core.facts import facts, number, word
from traindx.core.nouns import Unreadable
from traindx.experiment import casebook
from traindx.experiment.edit.configs import parsed, with_setting
from traindx.interview.answer_files import document, read_answers, take, written
from traindx.interview.session import Interview
from traindx.logs.find import find_runs

SETTINGS = b"""[map]
loss = "my_objective"
"val/loss" = 'dev'

[thresholds.loss_spikes]
ratio = 3.0
least = 0x10

[thresholds.loss_flat]
"""
ANSWERS = b"""symptoms = ["not_learning", "diverged"]
plan = "lower the rate"

[answers]
lr = "0.1"
optimizer = "sgd"
data_shuffled = "no"
"""
ENTRY = casebook.Entry(
    date="2026-01-02T03:04:05",
    script="train.py",
    symptom="not_learning",
    cause="lr_too_high",
    remedy="lower_lr",
    change="lr 0.1 -> 0.01",
    verdict="helped",
    metric="loss",
    before=2.5,
    after=0.5,
    gain=0.8,
    pairs=4,
    p=0.01,
    steps=200,
    said="it helped",
)
LOG = "step,loss\n" + "".join(f"{step},{2 / step:.4f}\n" for step in range(1, 40))
LONG, DEEP = "9" * 6000, 5000


@pytest.mark.parametrize("seed", range(4))
def test_any_settings_are_settings_or_one_line(tmp_path: Path, seed: int) -> None:
    damaged_settings(tmp_path, range(100 * seed, 100 * seed + 100))


@pytest.mark.parametrize("seed", range(4))
def test_any_answers_are_answers_or_one_line(tmp_path: Path, seed: int) -> None:
    damaged_answers(tmp_path, range(100 * seed, 100 * seed + 50))


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_line_of_the_casebook_hides_no_other(tmp_path: Path, seed: int) -> None:
    damaged_casebook(tmp_path, range(100 * seed, 100 * seed + 50))


@pytest.mark.parametrize("seed", range(4))
def test_any_document_is_data_or_damage(seed: int) -> None:
    damaged_documents(range(100 * seed, 100 * seed + 50))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1005))
def test_much_damage(tmp_path: Path, seed: int) -> None:
    many = range(10_000 * seed, 10_000 * seed + 1000)
    damaged_settings(tmp_path, many)
    damaged_answers(tmp_path, many)
    damaged_casebook(tmp_path, many)
    damaged_documents(many)


def damaged_settings(folder: Path, seeds: range) -> None:
    for seed in seeds:
        (folder / "traindx.toml").write_bytes(mutants.other_bytes(SETTINGS, random.Random(seed)))
        try:
            settings.load(folder)
        except settings.BadSettings as error:
            told = str(error)
            if "\n" in told or "traindx.toml" not in told:
                raise AssertionError(f"seed {seed}: {told}") from None


def damaged_answers(folder: Path, seeds: range) -> None:
    as_json = json.dumps({"symptoms": ["not_learning"], "answers": {"lr": 0.1, "optimizer": "sgd"}}).encode()
    for seed in seeds:
        rng = random.Random(seed)
        kind = rng.choice(("toml", "json", "value"))
        if kind == "value":
            data = mutants.other_value(as_json, rng)
        else:
            data = mutants.other_bytes(ANSWERS if kind == "toml" else as_json, rng)
        path = folder / "answers"
        path.write_bytes(data)
        interview = Interview(None)
        try:
            given = read_answers(str(path))
            take(interview, given, str(path))
        except Unreadable as error:
            if "\n" in str(error):
                raise AssertionError(f"seed {seed}: {error}") from None
            continue
        interview.diagnosis()
        written(document(interview, plan=given.plan), "x.toml").encode("utf-8", "replace")


def damaged_casebook(folder: Path, seeds: range) -> None:
    folder = folder / "project"
    casebook.add([ENTRY], folder)
    path = casebook.path_of(folder)
    line = path.read_bytes().splitlines()[0]
    for seed in seeds:
        rng = random.Random(seed)
        other = (mutants.other_value if rng.random() < 0.7 else mutants.other_bytes)(line, rng)
        path.write_bytes(line + b"\n" + other + b"\n" + line + b"\n")
        found = casebook.entries(folder)
        assert found[0] == found[-1] == ENTRY, f"seed {seed}"
        for entry in casebook.for_cause("lr_too_high", folder):
            casebook.sentence(entry)
        casebook.search(found, ["helped"])


def damaged_documents(seeds: range) -> None:
    texts: list[tuple[Callable[[str], object], bytes]] = [
        (json_of, mutants.RECORDING.joinpath("run.json").read_bytes()),
        (toml_of, SETTINGS),
        (yaml_of, b"a: &a [1, 2.5, x]\nb: *a\nc: {d: 0x10, e: 2001-02-03, f: yes}\n<<: {g: 1_000}\n"),
    ]
    for seed in seeds:
        rng = random.Random(seed)
        read, text = rng.choice(texts)
        with suppress(Damaged):
            found = read(mutants.other_bytes(text, rng).decode("utf-8", "replace"))
            assert shallow(found)
            repr(found)


def test_numbers_of_any_length_are_numbers() -> None:
    assert json_of(f"[1, {LONG}, -{LONG}, 12345678901234567890]") == [
        *(1, float("inf"), float("-inf"), 12345678901234567890.0)
    ]
    for text, read in ((f"a = {LONG}", toml_of), (f"a = 0x{LONG}", toml_of), (f"a: {LONG}", yaml_of)):
        with pytest.raises(Damaged, match="an integer does not fit 64 bits"):
            read(text)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (json_of, "[" * DEEP + "]" * DEEP),
        (json_of, '{"a":' * DEEP + "1" + "}" * DEEP),
        (json_of, "[" * 200 + "]" * 200),
        (toml_of, "a = " + "[" * DEEP + "]" * DEEP),
        (toml_of, "a = " + "{a=" * DEEP + "1" + "}" * DEEP),
        (toml_of, ".".join("a" * DEEP) + " = 1"),
        (yaml_of, "[" * DEEP + "]" * DEEP),
        (yaml_of, "- " * DEEP + "x"),
    ],
)
def test_nesting_is_damage(read: Callable[[str], object], text: str) -> None:
    with pytest.raises(Damaged):
        read(text)


def test_aliases_do_not_multiply() -> None:
    levels = [f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 9)}]" for n in range(1, 12)]
    for text in ("\n".join(["b0: &b0 [1, 1]", *levels]), "a: &a [*a, *a]"):
        with pytest.raises(Damaged, match="more than a configuration holds"):
            yaml_of(text)
    assert yaml_of("a: &a [1, 2]\nb: *a") == {"a": [1, 2], "b": [1, 2]}


def test_a_configuration_that_is_damaged_is_left_alone() -> None:
    for name, text in (("x.toml", f"a = {LONG}"), ("x.json", "[" * DEEP), ("x.yaml", "a: &a [*a]")):
        with pytest.raises(ValueError, match=r"not valid|nested"):
            parsed(name, text)
        assert with_setting(name, text, ("a",), "1") is None
    assert with_setting("x.json", '{"a": 1}', ("a",), "2") == '{"a": 2}'


def test_settings_beside_a_log_that_are_damaged(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(LOG)
    run = find_runs([str(tmp_path / "log.csv")]).runs[0]
    for text in ("[" * DEEP, '{"lr": ' + LONG + "}", '{"lr": 0.1'):
        (tmp_path / "config.json").write_text(text)
        settings_beside([run])


def test_accessors_of_facts() -> None:
    fact = {"a": 10**400, "b": "x", "c": [1], "d": float("inf"), "e": True, "f": 3}
    assert [number(fact, key) for key in "abcdefg"] == [None] * 5 + [3.0, None]
    assert [word(fact, key) for key in "abcdefg"] == ["", "x", "", "", "", "", ""]
    for odd in (5, "x", None, [1, [2], "x"], {"a": 1}):
        assert list(facts(odd)) == []


ROWS = [{"step": n, "loss": round(2 / n, 4)} for n in range(1, 30)]
LOGS = {
    "csv": ("log.csv", f"step,loss\n1,{LONG}\n{LOG[10:]}"),
    "lines": ("log.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS) + f'{{"loss": {LONG}}}\n'),
    "rows": ("log.json", json.dumps(ROWS)[:-1] + f', {{"loss": {LONG}}}]'),
    "frame": ("log.json", f'{{"loss": {{"{LONG}": 1, "1": 2, "2": 1.5}}, "val_loss": {{"0": 1, "1": 2}}}}'),
    "frame of rows": ("log.json", f'{{"{LONG}": {{"loss": 1}}, "1": {{"loss": 2}}, "2": {{"loss": 1.5}}}}'),
    "text": ("log.log", "".join(f"step {n} loss {2 / n:.3f}\n" for n in range(1, 30)) + f"step {LONG}\n"),
    "brackets": ("log.json", "[" * 900 + "]" * 900),
    "yaml": ("log.yaml", f"a: {LONG}"),
}  # fmt: skip


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_with_a_number_longer_than_python_reads(tmp_path: Path, kind: str) -> None:
    name, text = LOGS[kind]
    (tmp_path / name).write_text(text)
    found = api.read(tmp_path)
    for note in found.skipped:
        assert "please report" not in note.text
    for run in found.runs:
        api.diagnose(run)
    assert bool(found.runs) == (kind not in ("brackets", "yaml"))


DIAGNOSE, ASK = ("diagnose", "log.csv"), ("ask", "--answers", "answers", "--json")
BOOK = ".traindx/casebook.jsonl"
COMMANDS = {
    "settings deep": (
        "traindx.toml",
        "a = " + "[" * DEEP,
        DIAGNOSE,
        2,
        "is TOML nested too deeply",
    ),
    "settings long": ("traindx.toml", f"[map]\nloss = {LONG}", DIAGNOSE, 2, "does not fit 64 bits"),
    "threshold long": ("traindx.toml", f"[thresholds.a]\nx = 0x{LONG}", DIAGNOSE, 2, "does not fit 64 bits"),
    "answers deep": ("answers", "a = " + "[" * DEEP, ASK, 2, "nested too deeply"),
    "answers long": ("answers", f'{{"answers": {{"lr": {LONG}}}}}', ASK, (0, 1, 2), ""),
    "casebook": (BOOK, "[" * DEEP + f"\n{LONG}\nx\n", ("casebook",), 0, "3 lines torn or foreign"),
    "casebook beside": (BOOK, "[" * DEEP, DIAGNOSE, (0, 1), ""),
    "log deep": ("deep.json", "[" * DEEP + "]" * DEEP, ("inspect", "deep.json"), 2, "deep.json"),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_commands_on_damaged_documents(tmp_path: Path, case: str) -> None:
    name, text, command, code, said = COMMANDS[case]
    (tmp_path / ".traindx").mkdir()
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / name).write_text(text)
    shown = traindx(tmp_path, *command, code=code)
    assert said in shown
    if code == 2:
        assert len(shown.splitlines()) == 1


@pytest.mark.parametrize("word", ["Infinity", "NaN", '"two"', "[[1]]", LONG])
def test_commands_on_a_recording_with_odd_facts(tmp_path: Path, word: str) -> None:
    here = mutants.recording(tmp_path)
    text = (here / "run.json").read_text().replace('"world_size": 1', f'"world_size": {word}')
    (here / "run.json").write_text(text.replace('"command": "python train.py"', '"command": "python \'"'))
    traindx(tmp_path, "diagnose", here, code=1)
    said = traindx(tmp_path, "confirm", here, code=2)
    assert len(said.splitlines()) == 1
