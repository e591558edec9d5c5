"""Writes the generated docs: the formats, the pages of knowledge, the command line's help, the pictures.

`python docs/generate.py --pages` (or `make docs`) writes the pages; a test calls `pages()` and compares.
Without `--pages` (or by `make pictures`) it also draws the pictures, by running the demo and the examples.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the examples
from examples import gallery  # noqa: E402

DOCS = ROOT / "docs"
DEMO_LOG = ROOT / "src" / "traindx" / "cli" / "_demo" / "diverged.log"
_MADE = "<!-- Written by docs/generate.py: change the source it comes from, then run `make docs`. -->\n"
_CHECKS = re.compile(r"(?<=<!-- checks -->\n).*?(?=<!-- /checks -->)", re.DOTALL)
_INPUTS = re.compile(r"(?<=<!-- inputs -->\n).*?(?=<!-- /inputs -->)", re.DOTALL)
_TABLE = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)


def pages() -> dict[Path, str]:
    """Every generated text and where it stands."""
    readme = ROOT / "README.md"
    return {
        DOCS / "formats.md": formats(),
        DOCS / "cli.md": command_line(),
        DOCS / "names.md": vocabulary(),
        DOCS / "changes.md": changes(),
        DOCS / "preflight.md": preflight(),
        DOCS / "gallery.md": gallery.page(_MADE),
        DOCS / "adding-a-detector.md": inputs(),
        DOCS / "checklist.md": checklist(),
        **knowledge(),
        readme: _TABLE.sub(lambda _: format_table(), readme.read_text(encoding="utf-8")),
    }


def formats() -> str:
    """One section per reader: its page."""
    from traindx.core.units import readers

    intro = (
        "# What traindx reads\n\n"
        + _MADE
        + "\nThe format is detected from the files; there is no option for it. "
        "Special formats are tried first, in this order. Any of them may be compressed with gzip; `-` is "
        "standard input. A folder is searched: every run in it becomes one run, its files joined. "
        "How to add a format: [adding-a-reader.md](adding-a-reader.md).\n"
    )
    sections = [f"## {unit.title}\n\nFormat `{unit.id}`. {unit.page}\n" for unit in readers()]
    return "\n".join([intro, *sections])


def format_table() -> str:
    """The formats for the README: title and the first sentence of the page."""
    from traindx.core.units import readers

    lines = ["| format | what is read |", "| --- | --- |"]
    for unit in readers():
        first = re.split(r"(?<=\.)\s+(?=[A-Z`])|\n\n", unit.page, maxsplit=1)[0]
        lines.append(f"| {unit.title} | {' '.join(first.split()).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


_GUIDES = {
    "000": "An interview that ends in ranked hypotheses",
    "001": "Symptom tables and what to answer",
    "002": "Pathologies and their fixes in PyTorch",
    "003": "From a history file to a proven fix",
    "004": "The whole method, with scripts",
}


def checklist() -> str:
    """What five common guides to debugging a training ask for, the command that answers, and its cases."""
    from tests.request.table import cases, items

    every = cases()
    intro = (
        "# The checklist\n\n"
        + _MADE
        + "\nFive guides that people and assistants debug trainings by name 224 things to ask, measure, "
        "recognise, report or fix. Each is a row: the command that answers it, and how many of its cases "
        "(`tests/request/`: logs, scripts and dialogues, written without knowledge of the detectors, except "
        "those of `fifth.toml`) get the answer an engineer would give.\n"
    )
    sections = []
    for guide, title in _GUIDES.items():
        rows = [f"## {title}\n", "| item | command | cases right |", "| --- | --- | --- |"]
        for item in items():
            if item["document"] == guide:
                own = [case for case in every if item["id"] in case.items]
                right = sum(not case.known_failing for case in own)
                state = f"{right} of {len(own)}" if item["state"] == "now" else "planned"
                rows.append(f"| {item['item']} | `{item['command']}` | {state} |")
        sections.append("\n".join(rows) + "\n")
    return "\n".join([intro, *sections])


def changes() -> str:
    """The changes at run time: a table, then the page of each."""
    from traindx.experiment.runtime.change import change_specs
    from traindx.report.change_pages import markdown, usage

    units = change_specs().values()
    intro = (
        "A change alters one thing in a training while it runs, without an edit of the script "
        "(`traindx list changes`). It is both an experiment (does the symptom "
        "disappear?) and the trial of a remedy. It records what it changed, with numbers; one that finds "
        "nothing to change counts as failed, never as applied. Several can be combined. A change draws no "
        "random numbers of the script, so a changed training and the unchanged one stay paired.\n"
    )
    top = ["# Changes at run time\n", _MADE, intro, "| change | what it does |", "| --- | --- |"]
    rows = [f"| [`{usage(unit)}`](#{unit.id}) | {unit.title} |" for unit in units]
    texts = [f'\n<a id="{unit.id}"></a>\n\n{markdown(unit, level=2)}' for unit in units]
    return "\n".join([*top, *rows, *texts])


def preflight() -> str:
    """The page with the checks in it, each from its own file."""
    from traindx.experiment.preflight.check import GROUPS, items

    lines = []
    for group, title in GROUPS.items():
        lines.append(f"### {title}\n")
        for item in items():
            if item.group == group:
                first, _, rest = item.page.partition("\n\n")
                lines.append(f"**{item.title}** (`{item.id}`). {first}\n\n{rest}\n")
    text = "\n".join(lines)
    return _CHECKS.sub(lambda _: text, (DOCS / "preflight.md").read_text(encoding="utf-8"))


def inputs() -> str:
    """What a detector may name in its signature."""
    from traindx.evidence.inputs import VIEWS

    rows = [f"| `{name}` | {view.words} |" for name, view in VIEWS.items()]
    table = "\n".join(["", "| input | what it is |", "| --- | --- |", *rows, "", ""])
    return _INPUTS.sub(lambda _: table, (DOCS / "adding-a-detector.md").read_text(encoding="utf-8"))


def vocabulary() -> str:
    """The canonical metrics and settings with their aliases."""
    from traindx.core import names

    lines = [
        "# Names\n",
        _MADE,
        names.__doc__ or "",
        "Spelling does not matter: `valTop1Acc`, `val/top-1_acc` and `Val Top1 Acc` are the same.\n",
        "## Metrics\n",
        "| name | better is | minimum | also written |",
        "| --- | --- | --- | --- |",
    ]
    for name, metric in names.METRICS.items():
        floor = "" if metric.floor is None else f"{metric.floor:g}"
        wish = "" if metric.goal == "none" else metric.goal
        lines.append(f"| `{name}` | {wish} | {floor} | {', '.join(metric.words)} |")
    lines += ["\n## Settings\n", "| name | also written |", "| --- | --- |"]
    lines += [f"| `{name}` | {', '.join(words.split())} |" for name, words in names.SETTINGS.items()]
    return "\n".join(lines) + "\n"


KINDS = {
    "cause": (
        "causes",
        "Causes",
        "Why trainings go wrong. Bits are log2 of how much more likely a finding is under "
        "this cause than under the other causes of the same symptom.",
    ),
    "symptom": ("symptoms", "Symptoms", "What is observed when a training goes wrong, most severe first."),
    "detector": ("detectors", "Detectors", "What traindx checks in a run, and the thresholds it uses."),
    "remedy": ("remedies", "Remedies", "What to do; `{lr}` and the like are numbers of the run."),
    "sheet": ("sheets", "Reference sheets", "Numbers and rules, one subject per sheet."),
}


def knowledge() -> dict[Path, str]:
    """A page per kind with all its entries; each sheet is a page of its own."""
    from traindx.knowledge.catalogue import pages_of
    from traindx.report.pages import markdown, one_line

    written = {}
    for kind, (name, title, about) in KINDS.items():
        listed = one_line(name)
        texts = []
        for page in (page for id, _, _ in listed for page in pages_of(id) if page.kind == kind):
            if kind == "sheet":
                made = markdown(page, link=link).replace("\n", f"\n\n{_MADE}", 1)
                written[DOCS / "sheets" / f"{page.id}.md"] = made
            else:
                texts.append(f'<a id="{page.id}"></a>\n\n{markdown(page, link=link, level=2)}')
        top = [f"# {title}\n", _MADE, f"{about}\n", _contents(kind, listed)]
        written[DOCS / f"{name}.md"] = "\n".join([*top, *texts])
    return written


def _contents(kind: str, listed: list[tuple[str, str, str]]) -> str:
    grouped = any(group for _, group, _ in listed)
    lines = [f"| {kind} | group | |" if grouped else f"| {kind} | |", "| --- | --- |" + " --- |" * grouped]
    for id, group, text in listed:
        cells = [link(kind, id), group, text] if grouped else [link(kind, id), text]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def link(kind: str, id: str) -> str:
    """Another page of knowledge, seen from a page in docs/."""
    name = KINDS[kind][0]
    return f"[`{id}`]({name}/{id}.md)" if kind == "sheet" else f"[`{id}`]({name}.md#{id})"


def command_line() -> str:
    """The help of every command."""
    import click

    from traindx.cli import cli

    parts = ["# The command line\n", _MADE]
    shape = {**cli.context_settings, "terminal_width": 90, "max_content_width": 90}
    with click.Context(cli, info_name="traindx", **shape) as top:
        parts.append(f"## traindx\n\n```text\n{cli.get_help(top)}\n```\n")
        parts += _helps(cli, top, shape)
    return "\n".join(parts)


def _helps(group: Any, above: Any, shape: dict[str, Any]) -> Iterator[str]:
    """The help of the commands of a group, and of those of groups in it."""
    import click

    for name in group.list_commands(above):
        command = group.get_command(above, name)
        with click.Context(command, parent=above, info_name=name, **shape) as context:
            yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
            if isinstance(command, click.Group):
                yield from _helps(command, context, shape)


def write_pictures(folder: Path) -> None:
    """What traindx prints and draws for the log of the demo, by running it."""
    folder.mkdir(exist_ok=True)
    for name in ("inspect", "diagnose"):
        _picture(name, folder)
    command = [sys.executable, "-m", "traindx", "inspect", DEMO_LOG.name, "--plots", str(folder)]
    subprocess.run(command, cwd=DEMO_LOG.parent, stdout=subprocess.DEVNULL, check=True)


def _picture(name: str, folder: Path) -> None:
    """The output of one command as an SVG."""
    environment = {**os.environ, "COLUMNS": "100", "FORCE_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    arguments = [name, DEMO_LOG.name]
    command = [sys.executable, "-m", "traindx", *arguments]
    shown = subprocess.run(command, cwd=DEMO_LOG.parent, env=environment, capture_output=True, check=False)
    if shown.returncode not in (0, 1):
        raise SystemExit(shown.stderr.decode())
    gallery.terminal(" ".join(["traindx", *arguments]), shown.stdout.decode(), folder / f"{name}.svg")


def main() -> None:
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if "--pages" in sys.argv:
        return
    write_pictures(DOCS / "images")
    gallery.write_pictures(DOCS / "images" / "gallery")


if __name__ == "__main__":
    main()
