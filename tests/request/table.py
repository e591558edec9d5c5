"""The table of the request: its items, its cases, how a case is run and judged."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from click.testing import CliRunner

HERE = Path(__file__).parent
CASES = HERE / "cases"
TABLES = {
    "cases.toml": "",
    "second.toml": "second-",
    "third.toml": "third-",
    "fourth.toml": "fourth-",
    "fifth.toml": "fifth-",
}  # with what the ids of their words begin
PROCESSES = (
    "run",
    "treat",
    "try",
    "preflight",
    "lr-find",
    "confirm",
    "python",
)  # commands that start the script
SECONDS = 600  # after which a command counts as hung


@dataclass
class Case:
    """One case: a command, and what must be said. The fields are those of cases.toml."""

    id: str
    pattern: str
    items: list[str]
    command: str
    why: str = ""
    lookalike: bool = False
    known_failing: bool = False
    verdicts: list[str] = field(default_factory=list)
    symptoms: list[str] = field(default_factory=list)
    primary: list[str] = field(default_factory=list)
    severity: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    top3: list[str] = field(default_factory=list)
    not_first: list[str] = field(default_factory=list)
    onset: list[float] = field(default_factory=list)
    must: list[str] = field(default_factory=list)
    must_not: list[str] = field(default_factory=list)
    then: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    exit_codes: list[int] = field(default_factory=list)
    printed_only: bool = False
    asks_about: str = ""
    asks: list[list[str]] = field(default_factory=list)
    words: str = ""

    @property
    def name(self) -> str:
        """The command without its arguments."""
        return self.command.split()[0]

    @property
    def kind(self) -> str:
        kinds = {"ask": "dialogue", "explain": "page", "list": "page"}
        return "script" if "scripts/" in self.command else kinds.get(self.name, "log")

    @property
    def slow(self) -> bool:
        return self.name in PROCESSES


@dataclass
class Answer:
    """What traindx said: one diagnosis for every run, everything printed, the files written."""

    screen: str
    printed: str = ""
    diagnoses: list[dict[str, Any]] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)
    exit_code: int = 0
    asked: list[str] = field(default_factory=list)


def items() -> list[dict[str, str]]:
    with (HERE / "items.tsv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t"))


def cases() -> list[Case]:
    return [case for name, prefix in TABLES.items() for case in _cases(HERE / name, prefix)]


def _cases(path: Path, prefix: str) -> list[Case]:
    text = path.read_text(encoding="utf-8")
    table = tomllib.loads(text)
    failing = [line.endswith("# known_failing") for line in text.partition("[words]\n")[2].splitlines()]
    every = [Case(**entry) for entry in table["case"]]
    for i, (phrase, symptoms) in enumerate(table["words"].items(), 1):
        every.append(
            Case(
                id=f"{prefix}words-{i:02d}",
                pattern="words",
                items=["000-choice-words"],
                command="ask",
                words=phrase,
                symptoms=symptoms,
                known_failing=failing[i - 1],
            )
        )
    return every


# ---------------------------------------------------------------------------------------------- running


def answer(case: Case, folder: Path) -> Answer:
    """Runs the case's command; what it writes goes to the folder."""
    if case.words or case.asks_about:
        return _questions(case, folder)
    words = [_place(word, folder) for word in case.command.split()]
    return _started(case, words, folder) if case.slow else _called(case, words, folder)


def _place(word: str, folder: Path) -> str:
    if word == "OUT":
        return str(folder / "out")
    path = stored(word)
    return str(path) if path else word


def stored(word: str) -> Path | None:
    """The file of the cases that a word of a command names."""
    if word.startswith(("second/", "third/", "fourth/", "fifth/")):
        return HERE / word
    return CASES / word if word.startswith(("logs/", "dialogues/", "scripts/")) else None


def _call(words: list[str]) -> tuple[int, str, str]:
    from traindx.cli import cli

    result = CliRunner(env={"COLUMNS": "160"}).invoke(cli, words)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def _called(case: Case, words: list[str], folder: Path) -> Answer:
    """In this process: once for people, once as Markdown, once as JSON."""
    code, out, err = _call(words)
    said = Answer(out + err, out + err, exit_code=code)
    if case.name in ("diagnose", "lint", "ask") and not case.printed_only and not case.writes:
        more = {"diagnose": ["--md", "-"], "ask": ["--all"], "lint": []}[case.name]
        said.printed += _call([*words, *more])[1]
        text = _call([*words, "--json"])[1]
        said.diagnoses = _diagnoses(text) if text else []
    said.files = _files(folder)
    return said


def _started(case: Case, words: list[str], folder: Path) -> Answer:
    """In a process of its own, in the folder, with a copy of the script; then what follows it."""
    script = next(Path(word) for word in words if "/scripts/" in word)
    shutil.copy(script, folder / "train.py")
    words = ["train.py" if word == str(script) else word for word in words]
    if words[0] == "run":
        words[1:1] = ["--json", "diagnosis.json", "--out", "recording"]
    done = _process(words[1:] if words[0] == "python" else ["-m", "traindx", *words], folder)
    said = Answer(done.stdout + done.stderr, exit_code=done.returncode)
    said.printed = said.screen
    more = ["diagnose recording --md -", "inspect recording --all"] if words[0] == "run" else []
    for command in [*more, *case.then]:
        said.printed += _process(["-m", "traindx", *command.split()], folder).stdout
    said.files = _files(folder)
    for path in said.files:
        if path.suffix == ".md" or path.name.endswith((".patch", ".diff")):
            said.printed += path.read_text(encoding="utf-8")
    if (folder / "diagnosis.json").exists():
        said.diagnoses = _diagnoses((folder / "diagnosis.json").read_text(encoding="utf-8"))
    return said


def _diagnoses(text: str) -> list[dict[str, Any]]:
    """One for each run, or for each phase of one."""
    whole = json.loads(text)
    return list(whole.get("runs", [whole]))


def _process(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """One thread for each: several of them run side by side."""
    env = os.environ | {"COLUMNS": "160", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
    )


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "site-packages" not in path.parts)


def _questions(case: Case, folder: Path) -> Answer:
    """How words are understood; or every question that follows when nobody knows an answer."""
    file = folder / "answers.json"
    answers: dict[str, str] = {}
    said = Answer("")
    for _ in range(15):
        file.write_text(json.dumps({"symptoms": [case.words or case.asks_about], "answers": answers}))
        said.exit_code, out, err = _call(["ask", "--answers", str(file), "--json"])
        said.printed += err
        if not out:
            return said
        said.diagnoses = [json.loads(out)]
        question = said.diagnoses[0]["interview"]["next"]
        if case.words or not question:
            return said
        said.asked.append(question["question"])
        answers[question["question"]] = "?"
    return said


# ---------------------------------------------------------------------------------------------- judging


def wrong(case: Case, said: Answer) -> list[str]:
    """What is not as it must be, one line each."""
    if case.words:
        heard = said.diagnoses[0]["interview"]["symptoms"] if said.diagnoses else []
        right = heard and set(heard) <= set(case.symptoms)
        return [] if right else [f"understood as {heard or 'nothing'}, not {case.symptoms}"]
    problems = [f"exit code {said.exit_code}"] if said.exit_code not in (case.exit_codes or (0, 1)) else []
    problems += [f"never asks for {' or '.join(one)}" for one in case.asks if not set(one) & set(said.asked)]
    problems += [f"does not say {one!r}" for one in case.must if not _found(one, said.printed)]
    problems += [f"says {one!r}" for one in case.must_not if _found(one, said.screen)]
    for pattern in case.writes:
        if not any(path.match(pattern) for path in said.files):
            problems.append(f"writes no {pattern}")
    if judged(case):
        problems += _wrong_diagnoses(case, said)
    return problems


def _found(pattern: str, text: str) -> bool:
    """In the text, or in the text as one line: people's lines are wrapped."""
    one_line = " ".join(text.split())
    return any(re.search(pattern, one, re.IGNORECASE | re.MULTILINE) for one in (text, one_line))


def judged(case: Case) -> bool:
    """Whether the diagnosis itself is expected to be something."""
    return bool(case.verdicts or case.symptoms or case.first or case.top3 or case.not_first)


def _wrong_diagnoses(case: Case, said: Answer) -> list[str]:
    if not said.diagnoses:
        return ["no diagnosis"]
    if case.lookalike:  # every run of it
        return [line for one in said.diagnoses for line in _wrong_diagnosis(case, one)]
    return min((_wrong_diagnosis(case, one) for one in said.diagnoses), key=len)


def _wrong_diagnosis(case: Case, diagnosis: dict[str, Any]) -> list[str]:
    problems = diagnosis["problems"]
    out = []
    if case.verdicts and diagnosis["verdict"] not in case.verdicts:
        out.append(f"verdict {diagnosis['verdict']} {summary(diagnosis)}")
    if case.primary and (not problems or problems[0]["symptom"] not in case.primary):
        out.append(f"the first problem is not {case.primary}: {summary(diagnosis)}")
    matching = [one for one in problems if not case.symptoms or _symptoms(one) & set(case.symptoms)]
    if case.symptoms and not matching:
        return [*out, f"none of {case.symptoms}: {summary(diagnosis)}"]
    if not (case.first or case.top3 or case.not_first or case.severity or case.onset):
        return out
    if not matching:
        return out if not (case.first or case.top3) else [*out, "no problem"]
    causes = [[one["cause"] for one in problem["hypotheses"]] for problem in matching]
    leading = causes[0][0] if causes[0] else "no cause"
    if case.first and leading not in case.first:
        out.append(f"first cause {leading}, not {case.first}")
    if case.top3 and not any(set(one[:3]) & set(case.top3) for one in causes):
        out.append(f"first three causes {causes[0][:3]}, none of {case.top3}")
    if leading in case.not_first:
        out.append(f"first cause {leading}")
    if case.severity and matching[0]["severity"] not in case.severity:
        out.append(f"severity {matching[0]['severity']}")
    if case.onset and not any(_within(one, case.onset) for one in matching):
        out.append(f"onset {[one.get('onset_step') for one in matching]}, not in {case.onset}")
    return out


def _symptoms(problem: dict[str, Any]) -> set[str]:
    return {problem["symptom"], *problem.get("also", [])}


def _within(problem: dict[str, Any], limits: list[float]) -> bool:
    onset = problem.get("onset_step")
    return onset is not None and limits[0] <= onset <= limits[1]


def summary(diagnosis: dict[str, Any]) -> str:
    """The problems of a diagnosis with their first causes, short."""
    lines = [
        f"{one['symptom']} ({', '.join(h['cause'] for h in one['hypotheses'][:3])})"
        for one in diagnosis["problems"]
    ]
    return f"[{'; '.join(lines) or 'no problem'}]"


def check(case: Case, folder: Path | None = None) -> list[str]:
    """Runs and judges a case."""
    if folder is not None:
        return wrong(case, answer(case, folder))
    with tempfile.TemporaryDirectory() as place:
        return wrong(case, answer(case, Path(place)))
