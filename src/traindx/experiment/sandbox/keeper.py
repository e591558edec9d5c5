"""The process between a workshop and its trials: starts them, ends them, and outlives neither.

`python -m traindx.experiment.sandbox.keeper FOLDER [warm]`; with `--arm ORDERS` it is one trial. Orders
come as JSON lines on standard input, what happened goes to standard output. When its input ends, the
workshop is gone: all trials are ended with everything they started, and the folder is removed. A warm
keeper has imported torch, and a trial is a fork of it: a trial then begins in hundredths of a
second instead of seconds.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any

from traindx.experiment.sandbox import processes

_BEAT = 1.0


class Keeper:
    """Trials by name while they run."""

    def __init__(self, folder: str, answers: int) -> None:
        self.folder = folder
        self._answers = answers
        self._running: dict[str, tuple[int, str]] = {}
        self._spawned: dict[int, subprocess.Popen[bytes]] = {}

    def serve(self, warm: bool) -> str | None:
        """Until the workshop is gone; in a forked trial: the path of its orders."""
        woken, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        heard = b""
        self._say(ready=True, pid=os.getpid())
        while True:
            ready, _, _ = select.select([0, woken], [], [], _BEAT)
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
            self._reap()
            if 0 not in ready:
                continue
            piece = os.read(0, 65536)
            if not piece:
                return None
            *lines, heard = (heard + piece).split(b"\n")
            for line in lines:
                orders = self._obey(json.loads(line), warm)
                if orders:
                    signal.set_wakeup_fd(-1)
                    for handle in (woken, wake, self._answers):
                        os.close(handle)
                    return orders

    def _obey(self, message: dict[str, Any], warm: bool) -> str:
        if "end" in message:
            self._end(message["end"])
            return ""
        if "interrupt" in message:
            if message["interrupt"] in self._running:
                with contextlib.suppress(OSError):
                    os.kill(self._running[message["interrupt"]][0], signal.SIGINT)
            return ""
        name, path = str(message["start"]), str(message["orders"])
        with open(path, encoding="utf-8") as file:
            orders: dict[str, Any] = json.load(file)
        pid = self._fork() if warm and message.get("warm") else self._spawn(path, orders)
        if not pid:
            _become(orders)
            return path
        self._running[name] = (pid, str(orders["scratch"]))
        self._say(began=name, pid=pid)
        return ""

    def _fork(self) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # threads of numerical libraries, which end at a fork by themselves
            return os.fork()

    def _spawn(self, path: str, orders: dict[str, Any]) -> int:
        flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        with open(orders["out"], "wb") as out, open(orders["err"], "wb") as err:
            child = subprocess.Popen(
                [sys.executable, *flags, "-m", "traindx.experiment.sandbox.keeper", "--arm", path],
                cwd=orders["scratch"],
                env=os.environ | orders["environment"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        self._spawned[child.pid] = child
        return child.pid

    def _reap(self) -> None:
        for name, (pid, scratch) in list(self._running.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self._running[name]
            if pid in self._spawned:
                self._spawned.pop(pid).returncode = os.waitstatus_to_exitcode(status)
            survivors = processes.end(pid, scratch)
            self._say(ended=name, code=os.waitstatus_to_exitcode(status), left=survivors)
        self._bury()

    def _bury(self) -> None:
        """What trials left behind has become our child: it ends with the last of them."""
        running = {pid for pid, _ in self._running.values()}
        for pid in processes.children():
            if pid not in running:
                with contextlib.suppress(OSError):
                    if not running:
                        os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, os.WNOHANG if running else 0)

    def _end(self, name: str) -> None:
        if name in self._running:
            processes.end(*self._running[name])

    def end_all(self) -> None:
        for name in list(self._running):
            self._end(name)
        for pid, _ in self._running.values():
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)
        self._running.clear()
        self._bury()

    def _say(self, **message: object) -> None:
        with contextlib.suppress(OSError):
            os.write(self._answers, json.dumps(message).encode() + b"\n")


def _become(orders: dict[str, Any]) -> None:
    """In the fork: a process of its own, with the streams of a trial."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    processes.end_with_parent()
    for number, name in ((0, os.devnull), (1, orders["out"]), (2, orders["err"])):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        handle = os.open(name, flags, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    os.environ.update(orders["environment"])
    tempfile.tempdir = None


def _warm_up() -> bool:
    """Import what every trial will need; nothing that starts threads or draws random numbers."""
    try:
        import torch
        import torch._dynamo  # which the first optimizer imports
        import torch.utils.data  # noqa: F401

        import traindx.experiment.runtime.arm
        import traindx.experiment.runtime.seeds
        import traindx.experiment.sandbox.guard
        import traindx.experiment.sandbox.redirect
        import traindx.observe.launch
        import traindx.observe.torch.install  # noqa: F401
    except Exception:
        return False
    gc.collect()
    gc.freeze()
    return True


def _run(path: str) -> None:
    from traindx.experiment.runtime import arm

    try:
        arm.run(path)
    except arm.Refused as error:
        sys.stderr.write(f"traindx: {error}\n")
        sys.exit(2)


def main() -> None:
    """Keep trials; a forked one continues from here as its own program."""
    if sys.argv[1] == "--arm":
        processes.end_with_parent()
        _run(sys.argv[2])
        return
    folder = sys.argv[1]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.close(silent)
    processes.adopt_orphans()
    keeper = Keeper(folder, answers)
    warm = "warm" in sys.argv[2:] and hasattr(os, "fork") and _warm_up()
    path = keeper.serve(warm)
    if path is not None:
        _run(path)
        return
    keeper.end_all()
    processes.remove(folder)
    os._exit(0)


if __name__ == "__main__":
    main()
