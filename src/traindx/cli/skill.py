"""`traindx skill`: the skills for assistants, shown and installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, note, say
from traindx.cli._options import json_option
from traindx.cli._output import cannot_write, print_document, print_lines, screen
from traindx.report.text import visible
from traindx.skills.assistants import ASSISTANTS

if TYPE_CHECKING:
    from traindx.skills.install import Installed

_SCHEMA = "traindx/skills/1"


@click.group(short_help="Show and install the skills by which assistants use traindx.")
def command() -> None:
    """Skills teach an assistant to debug a training with traindx, from the complaint to the proven fix."""


@command.command("list", short_help="List the skills and slash commands.")
@json_option(_SCHEMA)
def list_skills(as_json: bool) -> None:
    """List the skills and slash commands, and what each is for."""
    from traindx.skills import commands, description, head, names

    rows = [("skill", name, description(name)) for name in names()]
    rows += [("command", f"/{name}", str(head(text)["description"])) for name, text in commands().items()]
    if as_json:
        _print_json([{"kind": kind, "name": name, "description": text} for kind, name, text in rows])
        return
    from traindx.report.layout import wrapped

    out, lines = screen(), []
    for _, name, text in rows:
        body = wrapped(text, out.width, first=f"{name:<26}", rest=" " * 26)
        lines += [out.paint(f"{name:<26}", "cyan") + body[0][26:], *body[1:]]
    print_lines("\n".join(lines) + "\n")


@command.command("show", short_help="Print a skill.")
@click.argument("name", metavar="SKILL")
@click.option("-a", "--all", "everything", is_flag=True, help="Its references, too.")
@json_option(_SCHEMA)
def show_skill(name: str, everything: bool, as_json: bool) -> None:
    """Print a skill or a slash command; SKILL/references/FILE.md prints one of its references.

    Exit code: 0 when it was shown, 2 when there is none of that name.
    """
    texts = _texts(name)
    shown_texts = texts if everything or "SKILL.md" not in texts else {"SKILL.md": texts["SKILL.md"]}
    if as_json:
        _print_json([{"name": name, "path": path, "text": text} for path, text in texts.items()])
    else:
        print_lines("\n".join(shown_texts.values()))


def _texts(name: str) -> dict[str, str]:
    from traindx.skills import commands, files, names

    first, _, reference = name.partition("/")
    if first in names():
        texts = files(first)
        if not reference:
            return texts
        if reference in texts:
            return {reference: texts[reference]}
        raise Failure(f"{visible(name, 60)}: the files of {first} are {', '.join(texts)}.")
    if name.lstrip("/") in commands():
        return {f"{name.lstrip('/')}.md": commands()[name.lstrip("/")]}
    raise Failure(f"there is no skill {visible(name, 60)!r}: {', '.join([*names(), *commands()])}.")


@command.command("install", short_help="Install the skills where assistants read them.")
@click.argument("names", metavar="SKILL...", nargs=-1)
@click.option(
    "--for",
    "assistants",
    type=click.Choice([*ASSISTANTS, "all"]),
    multiple=True,
    help="Whom for; default: those whose folder is there, else the shared folder .agents. Repeatable.",
)
@click.option(
    "--user/--project", "user", default=False, help="For all your projects, or for this one (default)."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--force", is_flag=True, help="Replace files that somebody has changed.")
@json_option(_SCHEMA)
def install_skills(
    names: tuple[str, ...], assistants: tuple[str, ...], user: bool, dry_run: bool, force: bool, as_json: bool
) -> None:
    """Install skills and slash commands for Claude Code, Codex, Cursor, Gemini CLI, Copilot, opencode.

    Every file that is written is shown. One that is there and that you have changed is kept, unless you say
    yes on a terminal or give --force.

    Exit code: 0 when all is installed, 1 when a file of yours was kept, 2 when it could not be done.
    """
    from traindx.skills import names as skill_names
    from traindx.skills.install import install, plan

    for name in names:
        if name not in skill_names():
            raise Failure(f"there is no skill {visible(name, 60)!r}: {', '.join(skill_names())}.")
    base, rows, has_kept = Path.home() if user else Path.cwd(), [], False
    for chosen in _chosen(assistants, base, user):
        assistant = ASSISTANTS[chosen]
        texts = plan(assistant, base, user=user, only=names or skill_names())
        if dry_run:
            rows += [{"for": chosen, "state": "would be written", "path": str(path)} for path in texts]
            continue
        try:
            installed = install(
                texts, base / assistant.skills[user], lambda path: force or _ask_to_replace(path)
            )
        except OSError as error:
            raise cannot_write(str(error.filename or base), error) from None
        rows += _rows(chosen, installed)
        has_kept = has_kept or bool(installed.kept)
        call = "/train-debug" if assistant.commands[user] else assistant.call.format(name="debug-training")
        note(f"{assistant.title}: {call}, or just say what goes wrong.")
    if as_json:
        _print_json(rows)
    else:
        print_lines("".join(f"{row['state']:<17} {os.path.relpath(row['path'], base)}\n" for row in rows))
    if has_kept:
        say("Kept what you have changed; --force replaces it.")
        raise SystemExit(1)


def _chosen(assistants: tuple[str, ...], base: Path, user: bool) -> list[str]:
    """Those asked for; else those whose own folder is there, and the shared one where none is."""
    if "all" in assistants:
        assistants = tuple(name for name in ASSISTANTS if name != "codex")
    there = [
        name
        for name, assistant in ASSISTANTS.items()
        if name not in ("codex", "copilot") and (base / assistant.skills[user]).parent.is_dir()
    ]
    return list(dict.fromkeys(assistants)) or there or ["agents"]


def _ask_to_replace(path: Path) -> bool:
    """A yes on a terminal; without one nothing is replaced."""
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr is not None and sys.stderr.isatty()):
        return False
    return click.confirm(f"{visible(str(path))} was changed. Replace it?", err=True)


def _rows(assistant: str, installed: Installed) -> list[dict[str, str]]:
    states = {"written": installed.written, "unchanged": installed.unchanged, "kept, changed": installed.kept}
    return [
        {"for": assistant, "state": state, "path": str(path)}
        for state, paths in states.items()
        for path in paths
    ]


def _print_json(items: list[dict[str, str]]) -> None:
    from traindx.report.json_text import json_bytes

    print_document(json_bytes({"schema": _SCHEMA, "items": items}))
