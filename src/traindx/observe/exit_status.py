"""How a process that is not our child ended: by its exit status, where the system makes it visible."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import time
from pathlib import Path

# PIDFD_GET_INFO of linux/pidfd.h, for the first 64 bytes of its struct: the mask first, the exit code last.
_SIZE = 64
_GET_INFO = 3 << 30 | _SIZE << 16 | 0xFF << 8 | 11
_EXIT = 1 << 3
# Field 52 of /proc/<pid>/stat; the state is the third.
_EXIT_CODE_AFTER_STATE = 49
_PATIENCE = 0.5


class Mortal:
    """A running process, whose exit status is read once it has ended."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._handle = -1
        with contextlib.suppress(OSError, AttributeError):  # only Linux has it
            self._handle = os.pidfd_open(pid)

    def status(self) -> int | None:
        """As `os.wait` gives it; None where it cannot be known."""
        until = time.monotonic() + _PATIENCE
        while True:
            # One that its parent has not waited for yet, and one that it has.
            status = self._of_zombie()
            status = self._of_reaped() if status is None else status
            if status is not None or time.monotonic() > until or self._handle < 0:
                return status
            time.sleep(0.01)

    def _of_zombie(self) -> int | None:
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = Path(f"/proc/{self.pid}/stat").read_bytes().rpartition(b")")[2].split()
            if stat[0] in (b"Z", b"X"):
                return int(stat[_EXIT_CODE_AFTER_STATE])
        return None

    def _of_reaped(self) -> int | None:
        """Kernels from 6.15 on keep it for whoever has a handle."""
        with contextlib.suppress(OSError, ValueError, ImportError):
            import fcntl

            request = struct.pack("Q", _EXIT) + bytes(_SIZE - 8)
            answer = fcntl.ioctl(self._handle, _GET_INFO, request)
            if struct.unpack_from("Q", answer)[0] & _EXIT:
                return int(struct.unpack_from("i", answer, _SIZE - 4)[0])
        return None


def how_it_ended(status: int | None) -> tuple[str, str]:
    """How it ended, and one line about it, in the words of `ending.how_it_ended`."""
    if status is None:
        return "killed", "by a signal, or by os._exit"
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        with contextlib.suppress(ValueError):
            return "killed", signal.Signals(number).name
        return "killed", f"signal {number}"
    code = os.waitstatus_to_exitcode(status)
    return ("exit", f"exit code {code}, by os._exit") if code else ("finished", "")
