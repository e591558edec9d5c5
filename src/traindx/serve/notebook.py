"""`%load_ext traindx`: record cells of a notebook and see the diagnosis under them.

| magic | does |
| --- | --- |
| `%%traindx [name]` | records the cell and shows the diagnosis after it, also when the cell fails |
| `%traindx on [name]` | records all cells from now on |
| `%traindx off` | ends that |
| `%traindx diagnose` | the diagnosis so far |
| `%traindx folder` | where the recording is |
"""

from __future__ import annotations

import contextlib
import importlib
from pathlib import Path
from typing import Any

from traindx.core.nouns import Diagnosis
from traindx.observe.watch import Watch, latest, watch

_USAGE = "%traindx on [name] | off | diagnose | folder; or %%traindx [name] at the top of a cell"
_shell: Any = None


def load_ipython_extension(ipython: Any) -> None:
    """What `%load_ext traindx` calls."""
    global _shell
    _shell = ipython
    ipython.register_magic_function(magic, "line_cell", "traindx")


def unload_ipython_extension(ipython: Any) -> None:
    """What `%unload_ext traindx` calls: the magic goes, and a recording ends."""
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("traindx", None)
    running = latest()
    if running is not None:
        running.stop()


def magic(line: str, cell: str | None = None) -> Diagnosis | Path | None:
    """Record the trainings of this notebook: `%%traindx [name]`, or `%traindx on|off|diagnose|folder`."""
    if cell is not None:
        _record(cell, line.strip() or None)
        return None
    word, _, name = line.strip().partition(" ")
    if word == "on":
        print(f"recording to {watch(name=name.strip() or None).folder}")
        return None
    if word not in ("off", "diagnose", "folder") or name.strip():
        raise _usage_error(f"usage: {_USAGE}")
    running = latest()
    if running is None:
        raise _usage_error("nothing was recorded in this notebook: begin with %traindx on")
    if word == "diagnose":
        try:
            return running.diagnose()
        except ValueError as error:
            raise _usage_error(str(error)) from None
    if word == "off":
        running.stop()
    return running.folder


def _record(cell: str, name: str | None) -> None:
    """Run a cell as the shell would, traceback and all; then tell the shell how it ended."""
    running = watch(name=name)
    result = None
    try:
        result = _shell.run_cell(cell)
    finally:
        error = None if result is None else result.error_before_exec or result.error_in_exec
        running.__exit__(None, error, None)
        _show(running)
    if error is not None:
        # Its traceback stands above already; the notebook must still see that the cell failed.
        with contextlib.suppress(AttributeError):
            error._render_traceback_ = _shown_once(error)
        raise error


def _show(running: Watch) -> None:
    """The diagnosis in the cell's output; a training of a few steps may hold nothing to diagnose."""
    try:
        diagnosis = running.diagnose()
    except ValueError as error:
        print(f"traindx: {error}")
        return
    data, metadata = _shell.display_formatter.format(diagnosis)
    _shell.display_pub.publish(data, metadata)


def _shown_once(error: BaseException) -> Any:
    def render() -> list[str]:
        del error._render_traceback_  # type: ignore[attr-defined]
        return [f"{type(error).__name__}: the traceback is above"]

    return render


def _usage_error(text: str) -> Exception:
    exception: Exception = importlib.import_module("IPython.core.error").UsageError(text)
    return exception
