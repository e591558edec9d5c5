"""What a change does to a training, for its pull request: a Markdown comment and annotations of lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from traindx import __version__
from traindx.core.nouns import ACTED_ON, Place
from traindx.report.document import Document, Items, Section, Text, Verdict, code
from traindx.report.proof import headline, proof_blocks, proof_dict
from traindx.report.text import encodable, visible
from traindx.report.to_markdown import markdown

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Problem
    from traindx.evidence.lint import Linted
    from traindx.experiment.prove.results import Proved

SCHEMA = "traindx/ci/1"
# By which a workflow finds its comment again.
MARK = "<!-- traindx ci -->"
_LONGEST = 600
_ABOUT = "Short trainings of both versions on the same seeds, by traindx ci."
Level = Literal["error", "warning", "notice"]


@dataclass(frozen=True)
class Annotation:
    """A sentence about a line (or about the whole change, without a file)."""

    level: Level
    title: str
    text: str
    file: str = ""
    line: int | None = None

    @property
    def command(self) -> str:
        """As a workflow command of GitHub Actions; nothing in the text can be another one."""
        names = {"file": self.file, "line": self.line, "title": self.title}
        values = [f"{name}={_property(str(value))}" for name, value in names.items() if value]
        return f"::{self.level} {','.join(values)}::{_data(self.text)}"


@dataclass(frozen=True)
class Checked:
    """A pull request as it was checked; without `proved`, nothing differs from `base`."""

    base: str
    program: str
    proved: Proved | None
    diagnosis: Diagnosis | None
    annotations: tuple[Annotation, ...]

    @property
    def new_problems(self) -> tuple[str, ...]:
        return self.proved.best.new_problems if self.proved is not None else ()

    @property
    def failed(self) -> bool:
        """Whether the change makes the training worse, or brings a problem with it."""
        return self.proved is not None and (self.proved.best.answer == "worse" or bool(self.new_problems))


def noted_lines(
    diagnosis: Diagnosis | None, new: Sequence[str], linted: Linted | None, root: str
) -> Iterator[Annotation]:
    """Problems of the new version and what its source shows, with paths from the root of the repository."""
    for problem in diagnosis.problems if diagnosis is not None else ():
        if problem.severity in ACTED_ON:
            yield _of_problem(problem, bool({problem.symptom, *problem.also} & set(new)), root)
    for finding in linted.findings if linted is not None else ():
        place = next((candidate for candidate in finding.places if candidate.line), None) or Place()
        acted = finding.symptom is not None and finding.severity in ACTED_ON
        file = _relative(place.file, root)
        yield Annotation("warning" if acted else "notice", finding.id, finding.text, file, place.line)


def _of_problem(problem: Problem, is_new: bool, root: str) -> Annotation:
    first = problem.hypotheses[0] if problem.hypotheses else None
    text = problem.summary
    if first is not None:
        text += f" Likely cause: {first.title.lower()} ({first.confidence:.0%})."
    place = first.place if first is not None and first.place is not None else Place()
    title = f"{problem.symptom}{', not there before' if is_new else ''}"
    return Annotation("error" if is_new else "warning", title, text, _relative(place.file, root), place.line)


def _relative(file: str, root: str) -> str:
    if not file:
        return ""
    path = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
    return "" if path.startswith("..") else path.replace(os.sep, "/")


def comment(checked: Checked) -> str:
    """The comment for the pull request."""
    blocks: list[Any] = []
    if checked.proved is None:
        text = f"Nothing differs from {checked.base}: there is nothing to compare."
        blocks.append(Verdict("NO DIFFERENCE", (text,), "no-verdict"))
    else:
        blocks += proof_blocks(checked.proved)
    items = [
        f"`{annotation.file}:{annotation.line}` {_line(annotation)}" if annotation.file else _line(annotation)
        for annotation in checked.annotations
    ]
    if items:
        blocks.append(Section("Worth reading", (Items(tuple(items)),)))
    elif checked.diagnosis is not None:
        blocks.append(Text("No problem was found in the new version."))
    title = ("Training against ", code(checked.base), ": ", code(checked.program))
    return f"{MARK}\n{markdown(Document(title, 'ci', tuple(blocks), _ABOUT))}"


def _line(annotation: Annotation) -> str:
    return f"{annotation.title}: {annotation.text}"


def checked_dict(checked: Checked) -> dict[str, Any]:
    """Everything for programs."""
    return {
        "schema": SCHEMA,
        "traindx": __version__,
        "base": checked.base,
        "program": checked.program,
        "answer": "no difference" if checked.proved is None else checked.proved.best.answer,
        "summary": None if checked.proved is None else headline(checked.proved.best),
        "failed": checked.failed,
        "new_problems": list(checked.new_problems),
        "annotations": [
            {
                "level": annotation.level,
                "title": annotation.title,
                "text": annotation.text,
                "file": annotation.file or None,
                "line": annotation.line,
            }
            for annotation in checked.annotations
        ],
        "proof": None if checked.proved is None else proof_dict(checked.proved, checked.program),
    }


def _data(text: str) -> str:
    plain = visible(encodable(text), _LONGEST)
    return plain.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
