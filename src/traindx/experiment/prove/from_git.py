"""Versions from a repository: a commit against another, or against the files as they are now."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from traindx.experiment.prove.versions import REMOVED, NoVersion, SameVersion, Version

_LONGEST = 200


def between(revisions: str, folder: str, store: Path) -> tuple[Version, Version]:
    """`main..HEAD`, or `main` against the files as they are; `store` keeps what is not text."""
    first, dots, last = revisions.partition("..")
    last = last.lstrip(".")
    root = root_of(folder)
    for revision in filter(None, (first, last)):
        if revision.startswith("-"):
            raise NoVersion(f"{revision!r} is no revision of this repository.")
        _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    names = [name for name in (first, last or ("HEAD" if dots else "")) if name]
    changed = _git(root, "diff", "--name-only", "--no-renames", "-z", *names, "--").split("\0")
    paths = [path for path in changed if path]
    if not paths:
        raise SameVersion(f"{revisions}: nothing differs between these versions.")
    old_version = _version(first, first, root, paths, store)
    if len(names) == 1:
        return old_version, Version("the files as they are now")
    return old_version, _version(names[1], names[1], root, paths, store)


def root_of(folder: str) -> str:
    """The folder of the repository that a folder is in."""
    return _git(folder, "rev-parse", "--show-toplevel").strip()


def _version(name: str, revision: str, root: str, paths: list[str], store: Path) -> Version:
    sources, files = dict[str, str](), dict[str, str]()
    for path in paths:
        full = os.path.realpath(os.path.join(root, path))
        content = _content(root, revision, path)
        if content is None:
            files[full] = REMOVED
            continue
        try:
            sources[full] = content.decode("utf-8")
        except UnicodeDecodeError:
            copy = store / f"{len(list(store.iterdir()))}"
            copy.write_bytes(content)
            files[full] = str(copy)
    return Version(name, sources=sources, files=files)


def _content(root: str, revision: str, path: str) -> bytes | None:
    """A file in a commit; None where it is not there."""
    process = subprocess.run(
        ["git", "cat-file", "blob", f"{revision}:{path}"], cwd=root, capture_output=True, check=False
    )
    return process.stdout if process.returncode == 0 else None


def _git(folder: str, *words: str) -> str:
    try:
        process = subprocess.run(["git", *words], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise NoVersion("git is not installed: give --with or --patch instead.") from None
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = lines[-1].removeprefix("fatal: ") if lines else f"git {words[0]} found no such revision"
        raise NoVersion(f"{reason[:_LONGEST].rstrip('.')}.")
    return process.stdout.decode("utf-8", "surrogateescape")
