"""The folder a treatment leaves behind."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.core.nouns import Reading
from traindx.experiment.edit import encoded
from traindx.report.runs_json import runs_document
from traindx.report.side_by_side import COMPARISON_PLOT
from traindx.report.treatment import treatment_markdown, treatment_page
from traindx.report.treatment_advice import recommendations
from traindx.report.treatment_json import treatment_document
from traindx.source.edits import in_diff

if TYPE_CHECKING:
    from traindx.experiment.arms import Outcome
    from traindx.experiment.treat.results import Treated


# Lines as git counts them: a form feed or a lone carriage return ends none.
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_NAME_LONGEST = 255


def patch_of(treated: Treated, start: str | os.PathLike[str] = ".") -> str:
    """Every changed file as one unified diff that `patch -p1` and `git apply` take."""
    parts = []
    for path, (before, after) in sorted(treated.sources.items()):
        name = _relative(path, start)
        old, new = (in_diff(f"{side}/{name}") for side in "ab")
        for line in difflib.unified_diff(_LINES.findall(before), _LINES.findall(after), old, new):
            parts.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(parts)


def _relative(path: str, start: str | os.PathLike[str]) -> str:
    inside = os.path.relpath(os.path.realpath(path), os.path.realpath(start))
    return os.path.basename(path) if inside.startswith("..") else Path(inside).as_posix()


def write_treatment(treated: Treated, folder: Path) -> list[Path]:
    """Write everything; the paths in the order a person would read them."""
    folder.mkdir(parents=True, exist_ok=True)
    patch = patch_of(treated)
    paths: list[Path] = []
    if patch:
        paths.append(_write(folder / "fix.patch", patch))
    for path, (_, after) in sorted(treated.sources.items()):
        fixed = folder / _prefixed("fixed_", os.path.basename(path))
        fixed.write_bytes(encoded(path, after))
        paths.append(fixed)
    before = [outcome.run for outcome in treated.baseline if outcome.run is not None]
    after_runs = [outcome.run for outcome in treated.after if outcome.run is not None]
    paths += _history(folder / "training_history.json", treated.baseline)
    paths += _history(folder / "training_history_fixed.json", treated.after)
    picture = folder / COMPARISON_PLOT
    if before:
        from traindx.report.comparison_plot import write_comparison_plot

        groups = {"before": before} | ({"after": after_runs} if after_runs else {})
        write_comparison_plot(groups, picture, title=os.path.basename(treated.script))
        paths.append(picture)
    paths.append(_write(folder / "optimization_recommendations.md", recommendations(treated)))
    paths += sorted(folder.glob("treated_model*"))
    results = folder / "results.json"
    results.write_bytes(treatment_document(treated) + b"\n")
    report, html = folder / "diagnostic_report.md", folder / "report.html"
    names = [path.name for path in (report, *paths, results, html)]
    _write(report, treatment_markdown(treated, patch, names))
    _write(html, treatment_page(treated, patch, names))
    return [report, *paths, results, html]


def _prefixed(prefix: str, name: str) -> str:
    """A name with something before it, shortened to what a folder takes."""
    room = _NAME_LONGEST - len(prefix)
    return prefix + os.fsdecode(os.fsencode(name)[-room:])


def _history(path: Path, outcomes: Sequence[Outcome]) -> list[Path]:
    """The runs as `traindx inspect --json` shows them."""
    runs = tuple(outcome.run for outcome in outcomes if outcome.run is not None)
    if not runs:
        return []
    path.write_bytes(runs_document(Reading(runs, ())) + b"\n")
    return [path]


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="")
    return path
