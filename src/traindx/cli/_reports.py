"""What `diagnose` and `compare` share: reading runs, and one report on a terminal and in files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import click

from traindx.cli import note, say
from traindx.cli._options import Command, json_option, map_option, set_option, stacked
from traindx.cli._output import (
    exists_already,
    not_read,
    print_document,
    print_lines,
    printing,
    refuse_logs,
    screen,
    write_text,
    writing,
)
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from traindx.core.nouns import Reading, Run
    from traindx.report.layout import Screen


class Report(Protocol):
    """One result in every form; `plots` draws into a folder and gives the paths written."""

    @property
    def reading(self) -> Reading: ...
    def lines(self, out: Screen) -> list[str]: ...
    def markdown(self) -> str: ...
    def html(self) -> str: ...
    def document(self) -> bytes: ...
    def plots(self, folder: Path) -> Sequence[Path]: ...


def output_options(schema: str, page: str, plots: str) -> Callable[[Command], Command]:
    """Where a report goes, and the thresholds that count for it."""
    return stacked(
        json_option(schema),
        click.option("--md", metavar="FILE", help="Write a Markdown report; '-' prints it."),
        click.option("--html", metavar="FILE", help=f"Write one self-contained page with {page} curves."),
        click.option("--plots", metavar="DIR", help=plots),
        click.option("--force", is_flag=True, help="Let --md, --html and --plots replace existing files."),
        set_option,
    )


def report_options(schema: str, page: str, plots: str) -> Callable[[Command], Command]:
    """Where a report goes, and how runs are read and diagnosed for it."""
    jobs = click.option(
        "--jobs", metavar="N", type=click.IntRange(1), help="Processes for many runs; default: all cores."
    )
    return stacked(output_options(schema, page, plots), jobs, map_option)


@dataclass(frozen=True)
class Outputs:
    """Where a report goes: the options of `report_options`."""

    as_json: bool
    md: str | None
    html: str | None
    plots: str | None
    force: bool

    @classmethod
    def checked(cls, options: dict[str, Any], picture: str = "") -> Outputs:
        """What cannot be written is refused before the work is done; the same name twice would lose one.

        `picture` is the file that will be drawn, where that is known beforehand.
        """
        chosen = cls(*(options[name] for name in ("as_json", "md", "html", "plots", "force")))
        if chosen.as_json and chosen.md == "-":
            raise click.UsageError("--json and --md - both write to standard output; give --md a file name.")
        if chosen.html == "-":
            raise click.UsageError("--html writes a page of some megabytes; give it a file name.")
        pictures = [os.path.join(chosen.plots, picture)] if picture and chosen.plots is not None else []
        paths = [*chosen.files, *pictures]
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise click.UsageError("two of the reports name the same file; give each its own.")
        for path in paths:
            if os.path.lexists(path) and not chosen.force:
                raise exists_already(path)
        return chosen

    @property
    def files(self) -> list[str]:
        return [path for path in (self.md, self.html) if path is not None and path != "-"]

    def refuse_logs(self, runs: Sequence[Run]) -> None:
        for path in self.files:
            refuse_logs(path, runs)

    def write(self, report: Report) -> None:
        """The report on standard output in one form, then its files."""
        if self.as_json:
            print_document(report.document())
        elif self.md == "-":
            print_lines(report.markdown())
        else:
            out = screen()
            print_lines("\n".join(report.lines(out) + not_read(report.reading, out)) + "\n")
        with printing():
            sys.stdout.flush()
        if self.md is not None and self.md != "-":
            write_text(self.md, report.markdown(), force=self.force)
        if self.html is not None:
            write_text(self.html, report.html(), force=self.force)
        if self.plots is not None:
            self._draw(report, Path(self.plots))

    def _draw(self, report: Report, folder: Path) -> None:
        """Drawn elsewhere first: what is there already must not be lost to a half-done set."""
        import shutil
        from tempfile import TemporaryDirectory

        with writing(str(folder)):
            folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory() as scratch:
                pictures = report.plots(Path(scratch))
                targets = [folder / path.relative_to(scratch) for path in pictures]
                existing = next((target for target in targets if target.exists() and not self.force), None)
                if existing is not None:
                    raise exists_already(str(existing))
                for path, target in zip(pictures, targets, strict=True):
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
        note(f"Wrote {count(len(targets), 'PNG')} to {folder}")


def read_for_report(
    paths: tuple[str, ...], maps: tuple[str, ...], empty: Callable[[Reading], None] | None = None
) -> Reading:
    """The runs of the paths; a path that could not be read is warned of. `empty` is called when none was."""
    from traindx.cli.inspect_ import read_runs

    reading = read_runs(paths, maps)
    if not reading.runs:
        from traindx.cli._errors import nothing_read

        if empty is not None:
            empty(reading)
        raise nothing_read(paths, reading.skipped)
    for skipped in reading.skipped:
        if skipped.path in paths:
            say(f"Warning: {visible(skipped.path, 200)}: {visible(skipped.text, 200)}")
    return reading
