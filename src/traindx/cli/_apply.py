"""A proven change written into the user's files: asked first, with a backup, never otherwise."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from typing import TYPE_CHECKING

import click

from traindx.cli import Failure, say
from traindx.core import files
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Treated


def apply(treated: Treated) -> None:
    """Write the new texts, each beside a backup of the old one."""
    if not treated.proven:
        say("Nothing was proven that could be written: your files are as they were.")
        return
    if treated.sources:
        _write_sources(treated)
    if treated.new_args is not None:
        say(f"Run it with: {shlex.join(treated.new_args)}")


def _write_sources(treated: Treated) -> None:
    """All of them or, where one has changed meanwhile, none."""
    files = sorted(treated.sources)
    if sys.stdin is not None and sys.stdin.isatty():
        names = ", ".join(visible(os.path.relpath(path)) for path in files)
        if not click.confirm(f"Write this change into {names}?", err=True):
            say("Nothing was written.")
            return
    for path in files:
        if not _unchanged(path, treated.sources[path][0]):
            raise Failure(
                f"{visible(path)} has changed since the treatment began: nothing was written. "
                "Apply fix.patch by hand, or treat it again."
            )
    for path in files:
        backup = _backup(path)
        _write(path, treated.sources[path][1])
        say(f"Changed {os.path.relpath(path)}; it was kept as {os.path.relpath(backup)}")


def _unchanged(path: str, before: str) -> bool:
    from traindx.experiment.edit import encoded

    try:
        return files.read(path) == encoded(path, before)
    except OSError:
        return False


def _backup(path: str) -> str:
    """A copy under a name that nothing has yet."""
    data = files.read(path)
    for number in range(1, 1000):
        name = f"{path}.bak" if number == 1 else f"{path}.bak{number}"
        try:
            with open(name, "xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        except OSError as error:
            raise Failure(
                f"{visible(name)} could not be written: {error.strerror}. {visible(path)} is as it was; "
                "fix.patch holds the change."
            ) from None
        return name
    raise Failure(f"there are 999 backups of {visible(path)} already: nothing was written.")


def _write(path: str, text: str) -> None:
    """In one move, so that a full disk leaves the old file."""
    from traindx.experiment.edit import encoded

    try:
        with tempfile.NamedTemporaryFile(dir=os.path.dirname(path), prefix=".traindx-", delete=False) as file:
            temporary = file.name
            try:
                file.write(encoded(path, text))
                file.close()
                os.chmod(temporary, os.stat(path).st_mode & 0o7777)
                os.replace(temporary, path)
            except OSError:
                os.unlink(temporary)
                raise
    except OSError as error:
        raise Failure(f"{visible(path)} could not be written: {error.strerror}. It is as it was.") from None
