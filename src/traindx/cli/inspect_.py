"""`traindx inspect`: the runs found in logs and folders, as they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from traindx.cli._options import map_option, mapping
from traindx.cli._output import print_json, print_report, save_csv, save_plots

if TYPE_CHECKING:
    from traindx.core.nouns import Reading


@click.command(short_help="Show the training runs found in files and folders.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("-a", "--all", "everything", is_flag=True, help="Every run, series, setting and file in full.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (schema traindx/runs/1), points included.")
@click.option("--no-points", is_flag=True, help="With --json: the ends of the curves, without their points.")
@click.option("--csv", "csv_out", metavar="OUT", help="Write all points as a long CSV table; '-' is stdout.")
@click.option("--csv-raw", is_flag=True, help="With --csv: no apostrophe before names like =1+1 or @x.")
@click.option("--plots", "plots_folder", metavar="DIR", help="Write a PNG of the main curves of each run.")
@click.option("--force", is_flag=True, help="Let --csv replace an existing file.")
@map_option
def command(
    paths: tuple[str, ...],
    everything: bool,
    as_json: bool,
    no_points: bool,
    csv_out: str | None,
    csv_raw: bool,
    plots_folder: str | None,
    force: bool,
    maps: tuple[str, ...],
) -> None:
    """Show the training runs found in files and folders, in any format traindx reads.

    PATH is a log, a run folder, a folder of runs, or '-' for standard input; '.gz' files are unpacked.
    For each run: its format and steps, its curves (points, first -> last, best, NaN and Inf), its
    settings, and what happened in it. Then what could not be read, and why.

    Exit code: 0 when a run was read, 2 when none was.
    """
    if as_json and csv_out == "-":
        raise click.UsageError("--json and --csv - both write to standard output; give --csv a file name.")
    reading = read_runs(paths, maps)
    if as_json:
        print_json(reading, points=not no_points)
    if not reading.runs:
        from traindx.cli._errors import nothing_read

        raise nothing_read(paths, reading.skipped)
    if csv_out is not None:
        save_csv(reading.runs, csv_out, force=force, raw=csv_raw)
    if not as_json and csv_out != "-":
        print_report(reading, everything=everything)
    if plots_folder is not None:
        save_plots(reading.runs, plots_folder)


def read_runs(paths: tuple[str, ...], maps: tuple[str, ...]) -> Reading:
    """The runs below the paths, columns named as the settings file and --map say."""
    column_names = mapping(maps)
    from traindx.engine import read

    reading = read(*paths, mapping=column_names)
    if maps:
        from traindx.cli._errors import warn_unused_maps

        warn_unused_maps(maps, reading.runs)
    return reading
