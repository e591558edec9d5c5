"""Options of traindx that were put after the script's name: they go to the script, and one line says so."""

from __future__ import annotations

import itertools
import os
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from traindx.core import files

# Larger projects than this are not searched for an option of the same name.
_MAX_FILES, _MAX_BYTES = 300, 1_000_000
_NOT_SOURCE = re.compile(r"^\.|^(?:venv|env|node_modules|site-packages|__pycache__)$")


def misplaced_options(command: click.Command, words: Sequence[str]) -> list[tuple[str, ...]]:
    """The words after the program that are long options of `command`, each with its value."""
    options = {
        name: parameter for parameter in command.params for name in parameter.opts if name.startswith("--")
    }
    misplaced = []
    for at, word in enumerate(words):
        name, _, value = word.partition("=")
        if name not in options:
            continue
        parameter = options[name]
        takes_value = isinstance(parameter, click.Option) and not parameter.is_flag and not value
        misplaced.append((word, *words[at + 1 : at + 2]) if takes_value else (word,))
    return misplaced


def advice(ctx: click.Context, program: Sequence[str], as_module: bool) -> tuple[str, bool]:
    """The line about misplaced options, and whether the script surely has none of that name; or nothing."""
    misplaced = misplaced_options(ctx.command, program[1:])
    if not misplaced:
        return "", False
    script = ["-m", program[0]] if as_module else [program[0]]
    words = [word for option in misplaced for word in option]
    command = shlex.join([*ctx.command_path.split(), *words, *script])
    names = [option[0].partition("=")[0] for option in misplaced]
    folder = Path(program[0]).absolute().parent if not as_module else Path.cwd()
    unknown = any(not _mentioned(name.lstrip("-"), folder) for name in names)
    text = f"{' and '.join(names)} went to the script; put traindx's options before the script: {command}"
    return text, unknown


def _mentioned(name: str, folder: Path) -> bool:
    """Whether any source of the project mentions the option; True where it is too large to search."""
    word = re.compile(rf"\b{re.escape(name)}\b".replace(r"\-", "[-_]").encode())
    sources = list(itertools.islice(_sources(folder), _MAX_FILES + 1))
    if len(sources) > _MAX_FILES:
        return True
    try:
        return any(path.stat().st_size > _MAX_BYTES or word.search(files.read(path)) for path in sources)
    except OSError:
        return True


def _sources(folder: Path) -> Iterator[Path]:
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not _NOT_SOURCE.search(name)]
        yield from (Path(base) / name for name in names if name.endswith(".py"))
