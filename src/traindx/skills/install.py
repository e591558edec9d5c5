"""Copies of the skills where assistants read them; what a user has changed stays unless they agree."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from traindx.skills import commands, files
from traindx.skills.assistants import Assistant

# What was written last, next to the skills: a file that differs from it was changed by somebody.
_MANIFEST = ".traindx.json"


@dataclass
class Installed:
    """What became of each file."""

    written: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    kept: list[Path] = field(default_factory=list)


def plan(assistant: Assistant, base: Path, *, user: bool, only: Sequence[str]) -> dict[Path, str]:
    """Every file that an assistant gets, with its text."""
    texts = {}
    for name in only:
        for path, text in files(name).items():
            texts[base / assistant.skills[user] / name / path] = text
    folder = assistant.commands[user]
    for name, text in commands().items() if folder else ():
        path, content = assistant.file(name, text)
        texts[base / folder / path] = content
    return texts


def install(texts: Mapping[Path, str], skills: Path, may_replace: Callable[[Path], bool]) -> Installed:
    """Write the files; one that somebody has changed is replaced only where `may_replace` says so."""
    manifest, result = _manifest(skills), Installed()
    for path, text in texts.items():
        name = os.path.relpath(path, skills)
        if not os.path.lexists(path):
            _write(path, text)
        elif _digest_of(path) == _digest(text):
            result.unchanged.append(path)
            manifest[name] = _digest(text)
            continue
        elif manifest.get(name) == _digest_of(path) or may_replace(path):
            _write(path, text)
        else:
            result.kept.append(path)
            continue
        result.written.append(path)
        manifest[name] = _digest(text)
    if result.written or result.unchanged:
        _write(skills / _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    return result


def _manifest(skills: Path) -> dict[str, str]:
    try:
        manifest = json.loads((skills / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(name): str(digest) for name, digest in manifest.items()} if isinstance(manifest, dict) else {}


def _write(path: Path, text: str) -> None:
    """Whole or not at all; a link is replaced, what it leads to stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.traindx")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _digest_of(path: Path) -> str:
    """Empty for a link, a folder and what cannot be read: not ours to replace."""
    try:
        return "" if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
