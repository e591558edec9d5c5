"""`traindx.watch` and `traindx.log`: recording from inside a script or a notebook, by one line."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from traindx.observe import children, ending, environment, frameworks, watch_arguments
from traindx.observe import folder as place
from traindx.observe.import_hook import forget
from traindx.observe.logged_values import numbers_of
from traindx.observe.printed import Overheard
from traindx.observe.recorder import Recorder, current, start
from traindx.observe.stderr_lines import say

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis

_ODD_MOST = 20

_latest: Watch | None = None
_follows_forks = False
_odd: set[str] = set()


class Watch:
    """A recording of this process; it can be given wherever the path of its `folder` can.

    It ends with `stop()`, at the end of a `with` block, or with the process.
    """

    def __init__(self, recorder: Recorder, *, joined: bool) -> None:
        self.folder = recorder.folder
        self._recorder = recorder
        self._joined = joined
        self._error = getattr(sys, "last_value", None)
        self._overheard = None if joined else Overheard(recorder.output)
        if self._overheard is not None:
            self._overheard.listen()
            atexit.register(self._process_ends)

    @property
    def active(self) -> bool:
        """Whether it still records."""
        return not self._recorder.closed

    def diagnose(self) -> Diagnosis:
        """What is wrong with the training so far, how surely, and what to do."""
        from traindx.engine import diagnose, last_run

        return diagnose(last_run(self))

    def stop(self) -> None:
        """End the recording; one that `traindx run` made continues."""
        self._end(None)

    def __fspath__(self) -> str:
        """Its folder, with everything recorded so far written."""
        if self.active:
            self._recorder.flush()
        return str(self.folder)

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end(error)

    def __repr__(self) -> str:
        return f"<traindx.Watch: {'recording' if self.active else 'recorded'} to {str(self.folder)!r}>"

    def _end(self, error: BaseException | None) -> None:
        if self._joined or not self.active:
            return
        atexit.unregister(self._process_ends)
        if self._overheard is not None:
            self._overheard.stop()
        for framework in children.FRAMEWORKS:
            if framework not in sys.modules:
                forget(framework)
        self._recorder.close(*ending.how_it_ended(error), ending.crash_of(error))

    def _process_ends(self) -> None:
        """An exception that ends a script is left in `sys.last_value`."""
        error = getattr(sys, "last_value", None)
        if error is self._error or environment.interactive():
            error = None
        self._end(error)


def watch(
    model: object = None,
    optimizer: object = None,
    *,
    name: str | None = None,
    out: str | os.PathLike[str] | None = None,
    budget: str | float = "1%",
    internals: bool = True,
) -> Watch:
    """Record the trainings of this process from now on, like `traindx run`, in `.traindx/<name>-<time>`.

    As a plain call it records until `stop()` or the end of the process, in a `with` statement until its
    end. Models and optimizers are found by themselves; those given (one, or a list) are known from the
    start. A second call ends the first recording. Under `traindx run` it joins the recording there is.
    """
    global _latest
    share = watch_arguments.share(budget)
    models, optimizers = watch_arguments.listed(model), watch_arguments.listed(optimizer)
    watch_arguments.check(models, optimizers)
    running = current()
    if running is not None and not running.closed and not _owns(running):
        _hint(running, models, optimizers)
        _latest = Watch(running, joined=True)
        return _latest
    folder = _folder(out, name)
    if _latest is not None:
        _latest._end(None)
    rank = environment.place()
    recorder = start(
        folder,
        rank=rank.rank,
        name=name or "",
        budget=share,
        internals=bool(internals) and share > 0,
        facts=environment.facts_here(rank.world),
    )
    recorder.journal.begin()
    _latest = Watch(recorder, joined=False)
    _odd.clear()
    _announce(rank.speaks)
    _follow_forks()
    children.install_when_there(recorder)
    _hint(recorder, models, optimizers)
    return _latest


def log(
    values: Mapping[str, object] | None = None, /, *, step: int | None = None, **more_values: object
) -> bool:
    """Add numbers of your own to the recording, at the present optimizer step or the given one.

    True when they were kept. Without a recording nothing happens, so the line may stay in the script.
    """
    recorder = current()
    if recorder is None or recorder.closed:
        return False
    try:
        numbers, odd = numbers_of({**(values if isinstance(values, Mapping) else {}), **more_values})
        if values is not None and not isinstance(values, Mapping):
            odd[f"log({type(values).__name__})"] = "it takes a mapping of names to numbers"
        at = numbers.pop("step", None) if step is None else numbers_of({"step": step})[0].get("step")
        if numbers:
            recorder.log(numbers, at)
        for name, why in odd.items():
            if len(_odd) < _ODD_MOST and name not in _odd:
                _odd.add(name)
                recorder.unseen(f"logged {name}"[:100], why)
        recorder.tick()
    except Exception as error:
        recorder.failed("traindx.log", error)
        return False
    return bool(numbers)


def latest() -> Watch | None:
    """The recording of this process: the present one, or the last."""
    running = current()
    if running is None or (_latest is not None and _latest._recorder is running):
        return _latest
    return Watch(running, joined=True)


def _owns(recorder: Recorder) -> bool:
    return _latest is not None and _latest._recorder is recorder and not _latest._joined


def _folder(out: str | os.PathLike[str] | None, name: str | None) -> Path:
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a text; got {type(name).__name__}.")
    wished = None if out is None else os.fspath(out)
    try:
        folder = place.choose(wished, name or environment.stem(), environment.place())
    except place.Taken:
        raise ValueError(f"out={wished!r} holds a recording already: give another folder, or none.") from None
    except OSError as error:
        # The journal counts what it cannot write; the training continues.
        folder = place.Folder(
            Path(wished or place.HOME).absolute(), f"nothing can be recorded ({error.strerror})"
        )
    if folder.trouble:
        say(f"{folder.trouble}; recording to {folder.path}")
    return folder.path


def _hint(recorder: Recorder, models: list[object], optimizers: list[object]) -> None:
    """Models and optimizers of the script are named before its first step; Keras and JAX name their own."""
    if not models and not optimizers:
        return
    try:
        from traindx.observe.torch.install import install

        watching = install(recorder)
        for optimizer in optimizers:
            watching.guard("hints", watching.constructed.add, optimizer)
        for model in models:
            watching.guard("hints", watching.names.saw, model)
    except Exception as error:
        recorder.failed("pytorch", error)


def _announce(speaks: bool) -> None:
    """Say what can be recorded of a framework other than PyTorch."""
    framework = frameworks.of_script(getattr(sys.modules.get("__main__"), "__file__", None))
    if framework is not None and framework.name != "PyTorch" and speaks:
        say(framework.line)


def _follow_forks() -> None:
    """A forked child leaves its parent's file alone; should it train, it gets one of its own."""
    global _follows_forks
    if not _follows_forks:
        _follows_forks = True
        children.in_forked_child(_forked)


def _forked() -> None:
    recorder = current()
    if recorder is not None and _owns(recorder):
        children.forked(recorder)
