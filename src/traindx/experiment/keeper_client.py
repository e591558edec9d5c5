"""The workshop's side of its keeper (`sandbox.keeper`): a folder, a process, and their messages."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from traindx.experiment.sandbox import processes

# Sockets have short names: the folder for them must not be deep.
_DEEP = 40
_ENDING = 10.0
# Of a recording or a trial that this process itself may be part of.
_OF_ANOTHER = ("TRAINDX_RECORDING", "TRAINDX_ORDERS", processes.MARK)


class Bench:
    """Starts arms in processes of their own; closing it ends them with all they started."""

    def __init__(self, warm: bool, threads: Mapping[str, str], cwd: str) -> None:
        if not hasattr(os, "fork"):
            raise RuntimeError("trials need Linux or macOS: this system cannot keep their writing apart.")
        home = _home()
        sweep(home)
        me = os.getpid()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{me}-{processes.began(me)}-", dir=home))
        self._warm = warm
        flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        mode = ["warm"] if warm else []
        self._keeper = subprocess.Popen(
            [sys.executable, *flags, "-m", "traindx.experiment.sandbox.keeper", str(self.folder), *mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=self.folder,
            env=_environment(threads, cwd),
            start_new_session=True,
        )
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        self._began: dict[str, float | None] = {}
        self._ready = False
        self._listening = threading.Thread(target=self._listen, daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        assert self._keeper.stdout is not None
        for line in self._keeper.stdout:
            self._ready = True
            with contextlib.suppress(ValueError):
                self._messages.put(json.loads(line))
        self._messages.put({"gone": True})

    def start(self, name: str, scratch: Path, orders: Mapping[str, Any]) -> None:
        """Start an arm, as soon as the keeper is ready for it."""
        path = scratch / "orders.json"
        path.write_text(json.dumps(orders), encoding="utf-8")
        self._began[name] = None
        self._send(start=name, orders=str(path), warm=self._warm)

    def seconds(self, name: str) -> float | None:
        """How long an arm has run; None before it has begun."""
        began = self._began.get(name)
        return None if began is None else time.monotonic() - began

    def interrupt(self, name: str) -> None:
        self._send(interrupt=name)

    def end(self, name: str) -> None:
        self._send(end=name)

    def _send(self, **message: object) -> None:
        assert self._keeper.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._keeper.stdin.write(json.dumps(message).encode() + b"\n")
            self._keeper.stdin.flush()

    def ended(self, seconds: float) -> Iterator[tuple[str, int | None, float]]:
        """Arms that ended meanwhile, their exit codes and seconds, waiting so long for the first."""
        until = time.monotonic() + seconds
        while True:
            try:
                message = self._messages.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            if message.get("gone"):
                # The keeper is gone: nothing reports the others or starts another.
                self._messages.put(message)
                for name in sorted(self._began):
                    yield name, None, self._past(name)
                return
            if "began" in message:
                self._began[message["began"]] = time.monotonic()
            if "ended" in message:
                yield message["ended"], message["code"], self._past(message["ended"])
                until = time.monotonic()

    def _past(self, name: str) -> float:
        seconds = self.seconds(name) or 0.0
        self._began.pop(name, None)
        return seconds

    def clear(self, name: str) -> None:
        """Remove what an arm has made, but for its recording."""
        processes.remove(str(self.folder / name))

    def close(self) -> None:
        """Close the keeper's input, upon which it ends all arms."""
        with contextlib.suppress(OSError):
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
        if not self._ready:  # it still imports, and has started nothing
            self._keeper.kill()
        try:
            self._keeper.wait(_ENDING)
        except subprocess.TimeoutExpired:
            self._keeper.kill()
            self._keeper.wait()
        finally:
            self._listening.join(1.0)
            assert self._keeper.stdout is not None
            self._keeper.stdout.close()
            if self.folder.exists():
                processes.remove(str(self.folder))


def _environment(threads: Mapping[str, str], cwd: str) -> dict[str, str]:
    """The user's, with what must be set before Python starts."""
    seed = os.environ.get("PYTHONHASHSEED", "")
    fixed = {"PYTHONHASHSEED": seed if seed.isdigit() else "0"}
    path = os.environ.get("PYTHONPATH")
    if path:
        fixed["PYTHONPATH"] = os.pathsep.join(os.path.join(cwd, entry) for entry in path.split(os.pathsep))
    plain = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER}
    return {**plain, **threads, **fixed}


def _home() -> str:
    """A folder for temporary files that is this user's own."""
    base = tempfile.gettempdir()
    if len(base) > _DEEP and os.access("/tmp", os.W_OK):
        base = "/tmp"
    home = os.path.join(os.path.realpath(base), f"traindx-trials-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        os.mkdir(home, 0o700)
    facts = os.lstat(home)
    private = os.path.isdir(home) and not os.path.islink(home) and facts.st_uid == os.getuid()
    return home if private and not facts.st_mode & 0o022 else tempfile.mkdtemp(prefix="traindx-", dir=base)


def sweep(home: str) -> None:
    """Remove the scratch of workshops that were killed."""
    for name in os.listdir(home):
        pid, _, rest = name.partition("-")
        if pid.isdigit() and not _lives(int(pid), rest.partition("-")[0]):
            processes.end_marked(os.path.join(home, name))
            processes.remove(os.path.join(home, name))


def _lives(pid: int, began: str) -> bool:
    if os.path.exists("/proc/self/stat"):
        return bool(began) and processes.began(pid) == began
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
