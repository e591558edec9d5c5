"""Processes that the training starts: most only load data, some train and get a file of their own.

A forked child inherits the recorder and must leave its parent's file alone. A spawned child starts afresh
and learns from the environment that there is a recording. In both, lines wait in memory until the child has
done a step; the file is made then.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypedDict

from traindx.core import files
from traindx.core.documents import json_of
from traindx.observe.files_read import FilesRead
from traindx.observe.import_hook import when_imported
from traindx.observe.journal import Journal
from traindx.observe.log_links import Links
from traindx.observe.printed import Overheard
from traindx.observe.recorder import Recorder, start
from traindx.observe.stopping import leave

VARIABLE = "TRAINDX_RECORDING"
ORDERS = "TRAINDX_ORDERS"
_PRELOAD = "traindx.observe.preload"
_KEPT = 1 << 20
_OF_ITS_WRITER = ("version", "name", "started", "config", "ended", "unseen", "dropped")

# The frameworks that are watched, and the name of the probe that reports a failure to begin.
FRAMEWORKS = {"torch": "pytorch", "keras": "keras", "jax": "jax"}
_in_child: list[Callable[[], None]] = []


class Options(TypedDict):
    """How a process and its children are recorded."""

    budget: float
    internals: bool
    steps: int | None
    stop_on_critical: bool


def follow(recorder: Recorder, options: Options) -> None:
    """Record the children of this process, too, from now on."""
    os.environ[VARIABLE] = json.dumps({"folder": str(recorder.folder), "options": options})
    in_forked_child(lambda: forked(recorder))
    when_imported("multiprocessing.spawn", _watch_spawn)
    when_imported("multiprocessing.forkserver", _watch_forkserver)
    for package in ("lightning.fabric", "lightning_fabric"):
        when_imported(f"{package}.strategies.launchers.subprocess_script", _watch_scripts)


def in_forked_child(call: Callable[[], None]) -> None:
    """Call this in every child that is forked from now on."""
    if not _in_child and hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_after_fork)
    _in_child.append(call)


def _after_fork() -> None:
    for call in _in_child:
        with contextlib.suppress(Exception):
            call()


def forked(recorder: Recorder) -> None:
    """In a forked child: it has a file of its own once it trains."""
    recorder.forked()
    recorder.step = 0
    recorder.journal = Waiting(recorder)


class Waiting(Journal):
    """Keeps lines in memory until the process has taken a step, then in a file with a free number.

    The launcher has the first number: as a rank of its own where it trains, too (`launcher_trains`).
    """

    def __init__(self, recorder: Recorder, *, launcher_trains: bool = False) -> None:
        super().__init__(recorder.folder, recorder.rank, recorder.started)
        self._recorder = recorder
        self._lines: list[bytes] = []
        self._number_offset = 0 if launcher_trains else 1

    def append(self, lines: bytes) -> bool:
        if self.size < _KEPT:
            self.size += len(lines)
            self._lines.append(lines)
        return self._open_now() if self._recorder.step else True

    def facts(self, document: object) -> bool:
        del document
        return True

    def _open_now(self) -> bool:
        recorder = self._recorder
        rank = _distributed_rank()
        number = _claimed(recorder.folder, None if rank is None else rank + self._number_offset)
        if number is None:
            return False
        if rank is None:
            rank = 0 if number == 1 and not _has_steps(recorder.folder / "rank-0.jsonl") else number
        recorder.rank = rank
        recorder.journal = Journal(recorder.folder, number, recorder.started)
        recorder.fact("pid", os.getpid())
        _at_exit(recorder)
        lines, self._lines = self._lines, []
        return recorder.journal.append(b"".join(lines))


def _distributed_rank() -> int | None:
    """The rank that torch.distributed or the environment gives this process."""
    distributed = sys.modules.get("torch.distributed")
    with contextlib.suppress(Exception):
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank())
    rank = os.environ.get("RANK", "")
    return int(rank) if rank.isdigit() else None


def reserve(folder: Path, number: int) -> bool:
    """Make the file of a process, unless another has it."""
    try:
        os.close(os.open(folder / f"rank-{number}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
    except OSError:
        return False
    return True


def _claimed(folder: Path, wish: int | None) -> int | None:
    """A number that is this process's own from now on. The launcher has one already, mostly 0."""
    wishes = ([] if wish is None else [wish]) + list(range(1, 1000))
    return next((number for number in wishes if reserve(folder, number)), None)


def _has_steps(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return b'{"rows"' in files.head(path, _KEPT)
    return False


def _at_exit(recorder: Recorder) -> None:
    """Children of multiprocessing leave without `atexit`, by a way of their own."""
    pid = os.getpid()

    def close() -> None:
        if os.getpid() == pid:
            recorder.close("finished")

    atexit.register(close)
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, close, exitpriority=-1000)


# Spawned children.


def observe(*, launcher_trains: bool = False) -> None:
    """In a process that was spawned or serves forks: begin to record, in memory at first."""
    notes = json.loads(os.environ[VARIABLE])
    folder, options = Path(notes["folder"]), notes["options"]
    if ORDERS in os.environ:
        from traindx.experiment.runtime.arm import begin_child

        begin_child()
    recorder = start(folder, rank=1, **options, facts=written_facts(folder)[0])
    recorder.journal = Waiting(recorder, launcher_trains=launcher_trains)
    recorder.insist = lambda why: leave(recorder.close, why)
    Overheard(recorder.output).listen()
    reads = FilesRead(lambda files: recorder.fact("files_read", files), notes["folder"])
    Links(lambda paths: recorder.fact("links", paths), notes["folder"], reads).listen()
    follow(recorder, options)
    install_when_there(recorder)


def install_when_there(recorder: Recorder) -> None:
    """Watch PyTorch, Keras and JAX as soon as the program has imported them."""
    for framework in FRAMEWORKS:
        when_imported(framework, partial(_install, recorder, framework))


def _install(recorder: Recorder, framework: str, module: ModuleType) -> None:
    try:
        import_module(f"traindx.observe.{framework}.install").install(recorder, module)
    except Exception as error:
        recorder.failed(FRAMEWORKS[framework], error)


def written_facts(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What another process of this recording has written into `run.json`, and the settings in it."""
    try:
        document = json_of(files.read(folder / "run.json"))
        return {k: v for k, v in document.items() if k not in _OF_ITS_WRITER}, document["config"]
    except (OSError, ValueError, KeyError):
        return {}, {}


def trained_elsewhere(folder: Path) -> bool:
    """Whether a child of this process has trained in its place."""
    return written_facts(folder)[0].get("pid") not in (None, os.getpid())


def spawn_main(**arguments: Any) -> None:
    """Replaces multiprocessing's function of this name in a spawned child."""
    with contextlib.suppress(Exception):
        observe()
    from multiprocessing.spawn import spawn_main as theirs

    theirs(**arguments)


def _watch_spawn(spawn: Any) -> None:
    theirs = spawn.get_command_line
    plain_import = "from multiprocessing.spawn import spawn_main; "
    # Where the child cannot import us it must still run.
    guarded_import = (
        "try:\n from traindx.observe.children import spawn_main\n"
        "except ImportError:\n from multiprocessing.spawn import spawn_main\n"
    )

    def get_command_line(**arguments: Any) -> list[Any]:
        # The path of Python itself is bytes.
        return [
            w.replace(plain_import, guarded_import, 1) if isinstance(w, str) else w
            for w in theirs(**arguments)
        ]

    spawn.get_command_line = get_command_line


def _watch_scripts(launcher: Any) -> None:
    """Lightning starts the script again for each further rank: under us."""
    theirs = launcher._basic_subprocess_cmd

    def _basic_subprocess_cmd() -> list[str]:
        python, *words = theirs()
        return [python, "-m", "traindx.observe.script_child", *words]

    launcher._basic_subprocess_cmd = _basic_subprocess_cmd


def _watch_forkserver(forkserver: Any) -> None:
    server = forkserver._forkserver
    theirs = server.ensure_running

    def ensure_running() -> None:
        with contextlib.suppress(AttributeError, TypeError):
            if _PRELOAD not in server._preload_modules:
                server._preload_modules = [*server._preload_modules, _PRELOAD]
        theirs()

    server.ensure_running = ensure_running
    forkserver.ensure_running = ensure_running
