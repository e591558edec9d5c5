"""Answers in a file: TOML or JSON, read and written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from traindx.core import files
from traindx.core.documents import Damaged, json_of, toml_of
from traindx.core.nouns import Unreadable
from traindx.interview.answers import Answer, NotUnderstood
from traindx.interview.session import Interview
from traindx.knowledge.questions import questions
from traindx.knowledge.suspicions import UnknownCause

_LARGEST = 5_000_000


@dataclass(frozen=True)
class AnswerFile:
    """What a file holds: symptoms as ids or in words, question -> raw answer, plans in words, suspicions."""

    symptoms: tuple[str, ...] = ()
    answers: Mapping[str, object] = field(default_factory=dict)
    plan: str = ""
    suspects: tuple[str, ...] = ()


def read_answers(path: str) -> AnswerFile:
    """The answers of a file; raises Unreadable with one line that says what is wrong."""
    try:
        text = files.read(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no text"
        raise Unreadable(f"{path} cannot be read: {why.lower()}") from None
    return answer_file(parsed(text, path), path)


def parsed(text: str, path: str) -> Mapping[str, object]:
    """JSON when it looks like it, else TOML."""
    try:
        data = json_of(text) if text.lstrip().startswith("{") else toml_of(text)
    except Damaged as error:
        raise Unreadable(f"{path} is neither TOML nor JSON: {error}") from None
    return data if isinstance(data, dict) else {}


def answer_file(data: Mapping[str, object], path: str) -> AnswerFile:
    """What the tables of a file mean."""
    answers = data.get("answers", {})
    if not isinstance(answers, Mapping):
        raise Unreadable(f"{path}: answers must be a table of question = answer")
    answered = {**{k: v for k, v in data.items() if k in questions()}, **answers}
    unknown = [k for k in (*answers, *data) if k not in questions() and k not in _KEYS]
    if unknown:
        close = get_close_matches(str(unknown[0]), [*questions(), *_KEYS], n=1)
        near = f"; did you mean {close[0]}?" if close else ""
        raise Unreadable(f"{path}: there is no question {str(unknown[0])!r}{near}")
    plan = data.get("plan", "")
    return AnswerFile(
        _listed(data, "symptoms", path),
        {str(key): value for key, value in answered.items()},
        ", ".join(map(str, plan)) if isinstance(plan, list) else str(plan),
        _listed(data, "suspects", path),
    )


_KEYS = ("symptoms", "answers", "plan", "suspects", "traindx", "started_from")


def _listed(data: Mapping[str, object], key: str, path: str) -> tuple[str, ...]:
    value = data.get(key, ())
    parts = [value] if isinstance(value, str | int) else value
    if not isinstance(parts, Sequence):
        raise Unreadable(f"{path}: {key} must be a list of ids or words")
    return tuple(str(part) for part in parts)


def take(interview: Interview, answer_file: AnswerFile, path: str) -> None:
    """Put the answers of a file into an interview; raises Unreadable for one that has no sense."""
    name = "symptoms"
    try:
        for text in answer_file.symptoms:
            interview.report(text)
        for name, raw in answer_file.answers.items():
            interview.answer(name, raw)
        name = "suspects"
        for text in answer_file.suspects:
            interview.suspect(text)
    except (NotUnderstood, UnknownCause) as error:
        raise Unreadable(f"{path}: {name}: {str(error).rstrip('.')}") from None


def document(interview: Interview, *, plan: str = "", started_from: Sequence[str] = ()) -> dict[str, object]:
    """An interview as plain data that `take` reads again."""
    tables: dict[str, object] = {"traindx": "answers/1"}
    if started_from:
        tables["started_from"] = list(started_from)
    tables["symptoms"] = list(interview.symptoms)
    if plan:
        tables["plan"] = plan
    if interview.suspicions:
        tables["suspects"] = [suspicion.text for suspicion in interview.suspicions]
    tables["answers"] = {name: _answer_text(answer) for name, answer in interview.answers.items()}
    return tables


def _answer_text(answer: Answer) -> str:
    """Options by their ids: numbers would mean something else when options are added."""
    return (
        ", ".join(answer.options) if questions()[answer.question].chosen and answer.options else answer.text
    )


def written(data: Mapping[str, object], path: str) -> str:
    """As JSON for a `.json`, else as TOML."""
    if path.lower().endswith(".json"):
        return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    lines = ["# Answers for traindx ask --answers FILE; ? is don't know."]
    tables = {key: value for key, value in data.items() if isinstance(value, Mapping)}
    lines += [f"{key} = {_toml(value)}" for key, value in data.items() if key not in tables]
    for key, table in tables.items():
        lines += ["", f"[{key}]", *(f"{name} = {_toml(value)}" for name, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """A JSON string is a TOML string, but for the one sign that JSON leaves as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
