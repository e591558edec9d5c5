"""The monitor process: shows how a training goes, stops it when asked to, and reports at its end.

`traindx.observe.monitor` starts it. Its standard input breaks when the training is gone; its standard
output is the training's standard error. It sleeps and loads nothing until there is something to do.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.observe.exit_status import Mortal
from traindx.observe.monitor import Orders

if TYPE_CHECKING:
    from traindx.cli._live import Live

_BEAT = 0.5
_DOZE = 5.0
_IGNORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_TYPED = ("SIGINT", "SIGQUIT")


def main() -> None:
    """Wait, report, and hand over the result."""
    orders = Orders(**json.loads(sys.argv[1]))
    code = 2
    try:
        _ignore_signals()
        training = Mortal(orders.pid)
        live = _live(orders)
        reported = _wait(orders, live)
        if live is not None:
            live.close()
        _obey_keys()
        from traindx.cli._run_end import ended, tell

        code = tell(orders, ended(orders, reported, training))
        if orders.done >= 0:
            os.write(orders.done, bytes([code]))
    except Exception:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
    finally:
        # The terminal or the pipe behind the streams may be gone: nothing is to be flushed any more.
        os._exit(code)


def _ignore_signals() -> None:
    """A signal to all processes of the terminal is for the training."""
    numbers = {getattr(signal, name) for name in _IGNORED if hasattr(signal, name)}
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "SIGTTOU"):  # some terminals stop whoever writes from the background
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)


def _obey_keys() -> None:
    """Whoever waits for the report may cut it short. A launcher that ends all ranks, one of which died,
    or a terminal that closes is no reason not to report."""
    for name in _TYPED:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _live(orders: Orders) -> Live | None:
    if not orders.live and not orders.stop_on_critical:
        return None
    with contextlib.suppress(OSError, AttributeError):
        os.nice(19)
    try:
        from traindx.cli._live import Live

        return Live(orders)
    except Exception:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        return None


def _wait(orders: Orders, live: Live | None) -> Mapping[str, object] | None:
    """Until the training says that it has ended; None when it was killed instead."""
    if not hasattr(os, "fork"):
        return _report(sys.stdin.buffer.read())
    received, listening = b"", True
    while True:
        pause = _DOZE if live is None and listening else _BEAT
        ready = bool(select.select([0] if listening else [], [], [], pause)[0])
        if ready:
            piece = os.read(0, 4096)
            received += piece
            if b"\n" in received:
                return _report(received)
            # A program may close what it does not know, or become another: the pipe breaks, it still runs.
            listening = bool(piece)
        if not (ready and listening) and not alive(orders.pid):
            return None
        if live is not None:
            live.beat()


def _report(line: bytes) -> Mapping[str, object]:
    report: Mapping[str, object] = json.loads(line)
    return report


def alive(pid: int) -> bool:
    """Whether a process is there and has not just died."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
        return stat.rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        if Path("/proc/self/stat").exists():
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
