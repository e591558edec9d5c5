"""Where results go: the terminal, standard output for machines, files."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from traindx.cli import Failure, cannot_print, note
from traindx.report.text import MARK, count, visible

if TYPE_CHECKING:
    from pathlib import Path

    from traindx.core.nouns import Reading, Run
    from traindx.report.layout import Screen

_WIDTH_IN_PIPES = 100
_WIDTH_MOST = 140
_WIDTH_LEAST = 60


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Standard output that refuses is the user's matter, told in one line."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_print(error) from None


def screen() -> Screen:
    """What standard output can show."""
    from traindx.report.layout import Screen

    return Screen(width=_width(), colour=_colour(), unicode=_encodes(f"▁█{MARK}→…·"))


def _width() -> int:
    columns_set = os.environ.get("COLUMNS", "")
    if columns_set.isdigit() and int(columns_set) > 0:
        return max(_WIDTH_LEAST, int(columns_set))
    for descriptor in (1, 2, 0):
        try:
            columns = os.get_terminal_size(descriptor).columns
        except OSError:
            continue
        if columns > 0:
            return min(max(columns, _WIDTH_LEAST), _WIDTH_MOST)
    return _WIDTH_IN_PIPES


def _colour() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _encodes(text: str) -> bool:
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def print_lines(text: str) -> None:
    """Write text that may hold what the terminal's encoding lacks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    with printing():
        sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def print_report(reading: Reading, *, everything: bool) -> None:
    from traindx.report.runs import render

    print_lines("\n".join(render(reading, everything=everything, screen=screen())) + "\n")


def print_json(reading: Reading, *, points: bool) -> None:
    from traindx.report.runs_json import runs_document

    print_document(runs_document(reading, points=points))


def print_document(document: bytes) -> None:
    """Write a JSON document and a line end."""
    sys.stdout.flush()
    binary = getattr(sys.stdout, "buffer", None)
    with printing():
        if binary is None:
            sys.stdout.write(document.decode() + "\n")
        else:
            binary.write(document + b"\n")
            binary.flush()


def save_csv(runs: Sequence[Run], out: str, *, force: bool, raw: bool) -> None:
    from traindx.report.runs_csv import write_points

    if out == "-":
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")
        with printing():
            write_points(runs, sys.stdout, raw=raw)
        return
    refuse_logs(out, runs)
    with created(out, force=force, newline="") as file:
        write_points(runs, file, raw=raw)
    points = sum(run.points for run in runs)
    note(f"Wrote {points:,} points to {out}")


def refuse_logs(out: str, runs: Sequence[Run]) -> None:
    """A report must not replace what it was made from, not even when told to replace files."""
    if any(_same_file(out, file) for run in runs for file in run.files):
        raise Failure(f"{visible(out)} is one of the logs that were read. Choose another name.")


def _same_file(first: str, second: str) -> bool:
    """Whether two paths are one file, by whatever link."""
    try:
        return os.path.samefile(first, second)
    except OSError:
        return os.path.realpath(first) == os.path.realpath(second)


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """An operating system that refuses to write there is reported in one line."""
    try:
        yield
    except OSError as error:
        raise cannot_write(path, error) from None


@contextlib.contextmanager
def created(out: str, *, force: bool, newline: str) -> Iterator[TextIO]:
    """A file for a report; one that exists is replaced only with `force`."""
    with writing(out):
        try:
            file = open(out, "w" if force else "x", encoding="utf-8", newline=newline)  # noqa: SIM115
        except FileExistsError:
            raise exists_already(out) from None
        with file:
            yield file


def exists_already(out: str) -> Failure:
    return Failure(f"{visible(out)} exists already. Choose another name, or replace it with --force.")


def write_text(out: str, text: str, *, force: bool) -> None:
    """A report as a file."""
    with created(out, force=force, newline="\n") as file:
        file.write(text)
    note(f"Wrote {out}")


def not_read(reading: Reading, out: Screen) -> list[str]:
    """A line that counts what was passed over."""
    if not reading.skipped:
        return []
    unread = count(len(reading.skipped), "file or folder", "files or folders")
    return ["", out.paint(f"  {unread} not read; traindx inspect says why.", "dim")]


def save_plots(runs: Sequence[Run], folder: str) -> None:
    from pathlib import Path

    from traindx.report.plots import write_plots

    with writing(folder):
        Path(folder).mkdir(parents=True, exist_ok=True)
        paths = write_plots(runs, Path(folder))
    pictures = f"{len(paths)} PNG" + ("s" if len(paths) != 1 else "")
    note(f"Wrote {pictures} to {folder}")


def check_place(path: Path, option: str) -> None:
    """Refuse now what could not be written after minutes of work."""
    try:
        place = path.absolute()
        os.lstat(place)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise cannot_write(str(path), error) from None
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        raise Failure(f"{visible(str(place))} cannot be written to. Give {option} a place elsewhere.")


def cannot_write(path: str, error: OSError) -> Failure:
    why = (error.strerror or type(error).__name__).lower()
    return Failure(f"{visible(path)} cannot be written: {why}. Give a path in a folder you may write to.")
