"""The end of a recorded training: how it ended, what is wrong with it, the reports asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.cli._tail import Tail
from traindx.core.nouns import SEVERITIES
from traindx.core.settings import BadSettings
from traindx.observe import exit_status
from traindx.observe.exit_status import Mortal
from traindx.observe.journal import write_end
from traindx.observe.monitor import Orders
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Reading

_WORDS = {
    "exception": "the program ended with {text}",
    "interrupted": "the program was interrupted",
    "exit": "the program left with {text}",
    "stopped": "{text}",
    "killed": "the program was killed ({text}); this is what it had recorded",
}


def ended(orders: Orders, ending: Mapping[str, object] | None, training: Mortal) -> Mapping[str, object]:
    """How the training ended; written into its recording where it could not do that itself."""
    if ending is None:
        how, text = exit_status.how_it_ended(training.status())
        ending = {"how": how, "text": text}
    elif not ending.get("lost"):
        return ending
    tail = Tail(Path(orders.folder))
    tail.poll()
    end = {"how": ending["how"], "text": ending["text"], "t": tail.latest.get("t"), "step": tail.step}
    with contextlib.suppress(Exception):
        write_end(Path(orders.folder), end)
    return ending


def tell(orders: Orders, ended: Mapping[str, object]) -> int:
    """Print the diagnosis, write the reports. The exit code: 1 by `--fail-on`, 2 when it failed."""
    say = _Say(orders)
    try:
        say.gap()
        say.line(_ending(ended))
        if ended.get("text") == "exit code 2":  # how argparse and click end on an unknown option
            say.line(orders.misplaced)
        if not _trained(orders):
            say.line(str(ended.get("framework") or ""))
        if ended.get("lost"):
            say.line(visible(str(ended["lost"]), 200))
        _check_data(orders, say)
        reading, diagnoses = _diagnosed(orders.folder)
        if not diagnoses:
            say.line("nothing to diagnose: neither a training step nor numbers in what was printed")
        say.diagnoses(diagnoses)
        _write_reports(orders, diagnoses, reading, say)
        return int(_fails(diagnoses, orders.fail_on))
    except BrokenPipeError:
        return 2
    except (click.ClickException, BadSettings) as error:
        say.line(error.message if isinstance(error, click.ClickException) else str(error))
        return 2
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        say.line(
            f"the diagnosis failed ({type(error).__name__}: {visible(str(error), 200)}). Please report it."
        )
        return 2


class _Say:
    """Standard output, which is the training's standard error; nothing when quiet."""

    def __init__(self, orders: Orders) -> None:
        self._quiet = orders.quiet
        self._everything = orders.everything

    def gap(self) -> None:
        """A killed program may have left the cursor in the middle of a line."""
        if not self._quiet:
            self._print("\n")

    def line(self, text: str) -> None:
        if text and not self._quiet:
            self._print(f"traindx: {visible(text)}\n")

    def diagnoses(self, diagnoses: Sequence[Diagnosis]) -> None:
        if self._quiet:
            return
        from traindx.cli._output import screen

        if len(diagnoses) > 1:
            from traindx.report.triage import triage

            lines = list(triage(diagnoses, screen(), everything=self._everything))
        else:
            from traindx.report.diagnosis import render_diagnosis

            lines = [
                line
                for diagnosis in diagnoses
                for line in render_diagnosis(diagnosis, everything=self._everything, screen=screen())
            ]
        if lines:
            self._print("\n" + "\n".join(lines) + "\n")

    def _print(self, text: str) -> None:
        from traindx.cli._output import print_lines

        # Nobody listens any more: the reports are still to be written.
        with contextlib.suppress(OSError, Failure):
            print_lines(text)
            sys.stdout.flush()


def _ending(ended: Mapping[str, object]) -> str:
    words = _WORDS.get(str(ended.get("how")), "")
    return visible(words.format(text=ended.get("text")), 300)


def _trained(orders: Orders) -> bool:
    """Whether a process that the program started has trained."""
    return len(list(Path(orders.folder).glob("rank-*.jsonl"))) > 1


def _check_data(orders: Orders, say: _Say) -> None:
    """Profile what the training read, for a few seconds; what goes wrong there is no reason to stop."""
    if not orders.check_data:
        return
    try:
        from traindx.checkup.data.recorded import check_recording

        say.line(data_line(check_recording(orders.folder)))
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        say.line(f"the data files were not checked ({type(error).__name__}: {visible(str(error), 120)})")


def data_line(facts: Mapping[str, Any]) -> str:
    """`checked 2 data files in 1.4 s: train.csv, val.csv`; empty where there are none."""
    names = [
        visible(str(data_file.get("name", "")), 60)
        for data_file in facts.get("data_files", ())
        if "why" not in data_file
    ]
    if not names:
        return ""
    checked = facts.get("data_checked", {})
    listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
    count = f"{len(names)} data file{'s' if len(names) > 1 else ''}"
    omitted = len(checked.get("left_out", ()))
    folder = visible(str(facts.get("recording", "")))
    further = f" ({omitted} checks left out for want of time; to make them: traindx check {folder})"
    return f"checked {count} in {checked.get('seconds', 0):.1f} s: {listed}{further if omitted else ''}"


def _diagnosed(folder: str) -> tuple[Reading, list[Diagnosis]]:
    from traindx.cli._cores import diagnose_runs
    from traindx.cli.inspect_ import read_runs

    reading = read_runs((folder,), ())
    return reading, diagnose_runs(reading.runs, 1)


def _write_reports(orders: Orders, diagnoses: Sequence[Diagnosis], reading: Reading, say: _Say) -> None:
    from traindx.cli._output import writing

    if orders.json is not None:
        from traindx.report.diagnosis_json import diagnosis_document

        with writing(orders.json):
            Path(orders.json).write_bytes(diagnosis_document(diagnoses, reading.skipped) + b"\n")
        say.line(f"wrote {visible(orders.json)}")
    if orders.html is not None:
        from traindx.report.diagnosis import write_html

        with writing(orders.html):
            write_html(diagnoses, Path(orders.html))
        say.line(f"wrote {visible(orders.html)}")


def _fails(diagnoses: Sequence[Diagnosis], severity: str | None) -> bool:
    if severity is None:
        return False
    grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(problem.severity in grave for diagnosis in diagnoses for problem in diagnosis.problems)
