"""Writes what the docs say twice: the formats, the command line's help, the pictures.

`python docs/generate.py` (or `make docs`) writes; a test calls `pages()` and compares.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DEMO_LOG = ROOT / "src" / "traindx" / "demo" / "diverged.log"
_MADE = "<!-- Written by docs/generate.py: change the source it comes from, then run `make docs`. -->\n"
_TABLE = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)


def pages() -> dict[Path, str]:
    """Every generated text and where it stands."""
    readme = ROOT / "README.md"
    return {
        DOCS / "formats.md": formats(),
        DOCS / "cli.md": command_line(),
        DOCS / "names.md": vocabulary(),
        readme: _TABLE.sub(lambda _: format_table(), readme.read_text(encoding="utf-8")),
    }


def formats() -> str:
    """One section per reader: its page."""
    from traindx.units import readers

    intro = (
        "# What traindx reads\n\n"
        + _MADE
        + "\nThe format is found by looking at the files, never by an option. "
        "Special formats are asked first, in this order. Any of them may be packed with gzip; `-` is "
        "standard input. A folder is walked: every run in it becomes one run, its files joined. "
        "How to add a format: [adding-a-reader.md](adding-a-reader.md).\n"
    )
    sections = [f"## {unit.title}\n\nFormat `{unit.id}`. {unit.page}\n" for unit in readers()]
    return "\n".join([intro, *sections])


def format_table() -> str:
    """The formats for the README: title and the first sentence of the page."""
    from traindx.units import readers

    lines = ["| format | what is read |", "| --- | --- |"]
    for unit in readers():
        first = re.split(r"(?<=\.)\s+(?=[A-Z`])|\n\n", unit.page, maxsplit=1)[0]
        lines.append(f"| {unit.title} | {' '.join(first.split()).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def vocabulary() -> str:
    """The canonical metrics and settings with their aliases."""
    from traindx import names

    lines = [
        "# Names\n",
        _MADE,
        names.__doc__ or "",
        "Spelling does not matter: `valTop1Acc`, `val/top-1_acc` and `Val Top1 Acc` are the same.\n",
        "## Metrics\n",
        "| name | better is | never below | also written |",
        "| --- | --- | --- | --- |",
    ]
    for name, metric in names.METRICS.items():
        floor = "" if metric.floor is None else f"{metric.floor:g}"
        wish = "" if metric.goal == "none" else metric.goal
        lines.append(f"| `{name}` | {wish} | {floor} | {', '.join(metric.words)} |")
    lines += ["\n## Settings\n", "| name | also written |", "| --- | --- |"]
    lines += [f"| `{name}` | {', '.join(words.split())} |" for name, words in names.SETTINGS.items()]
    return "\n".join(lines) + "\n"


def command_line() -> str:
    """The help of every command."""
    import click

    from traindx.cli import cli

    parts = ["# The command line\n", _MADE]
    shape = {**cli.context_settings, "terminal_width": 90, "max_content_width": 90}
    with click.Context(cli, info_name="traindx", **shape) as top:
        parts.append(f"## traindx\n\n```text\n{cli.get_help(top)}\n```\n")
        for name in cli.list_commands(top):
            command = cli.get_command(top, name)
            assert command is not None
            with click.Context(command, parent=top, info_name=name, **shape) as context:
                parts.append(f"## traindx {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def write_pictures(folder: Path) -> None:
    """What `traindx inspect` prints and draws for the log of the demo, by really running it."""
    from rich.console import Console
    from rich.text import Text

    environment = {**os.environ, "COLUMNS": "100", "FORCE_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "traindx", "inspect", DEMO_LOG.name]
    shown = subprocess.run(command, cwd=DEMO_LOG.parent, env=environment, capture_output=True, check=True)
    with open("/dev/null", "w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=102, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi("$ " + " ".join(["traindx", *command[3:]]) + "\n"))
        console.print(Text.from_ansi(shown.stdout.decode()), end="")
    folder.mkdir(exist_ok=True)
    console.save_svg(str(folder / "inspect.svg"), title="traindx inspect", unique_id="inspect")
    subprocess.run(
        [*command, "--plots", str(folder)], cwd=DEMO_LOG.parent, stdout=subprocess.DEVNULL, check=True
    )


def main() -> None:
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
    write_pictures(DOCS / "images")


if __name__ == "__main__":
    main()
