"""Ends in the way that its first argument says."""

import atexit
import contextlib
import io
import os
import signal
import sys
import threading
import time
import traceback


def deep(levels: int) -> None:
    if levels:
        deep(levels - 1)
    else:
        raise ValueError("deep down\nwith a second line")


def caused() -> None:
    try:
        deep(2)
    except ValueError as error:
        raise RuntimeError("because of it") from error


def group() -> None:
    raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])


def hook() -> None:
    sys.excepthook = lambda kind, value, tb: print("hooked", kind, value, traceback.extract_tb(tb))
    deep(1)


def broken_hook() -> None:
    def broken(*_: object) -> None:
        raise KeyError("in the hook")

    sys.excepthook = broken
    caused()


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)


def closed() -> None:
    sys.stdout = io.TextIOWrapper(io.BytesIO())
    sys.__stdout__.close()
    sys.__stdout__.write("nobody hears")


def order() -> None:
    def late() -> None:
        time.sleep(0.2)
        print("a thread goes on")

    atexit.register(print, "registered by the program")
    threading.Thread(target=late).start()
    print("the main thread ends")


def thread() -> None:
    worker = threading.Thread(target=deep, args=(1,), name="worker")
    worker.start()
    worker.join()


def streams() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as kept:
        print("kept elsewhere")
    print(kept.getvalue().upper(), end="")
    print("no line end", end="", flush=True)
    print(" here it is", file=sys.stderr)
    os.write(1, b"raw\n")


def fork() -> None:
    child = os.fork()
    if child == 0:
        print("the child prints")
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    try:
        os.wait()
    except ChildProcessError as error:
        print(error)


class LastWord:
    def __del__(self) -> None:
        print("an object goes")


def objects() -> None:
    global kept
    kept = LastWord()
    sys.exit(6)


def imports_torch() -> None:
    import torch  # a file of this name that fails stands beside the script

    print(torch)


WAYS = {
    "return": lambda: None,
    "exit": sys.exit,
    "exit-3": lambda: sys.exit(3),
    "exit-text": lambda: sys.exit("a last word"),
    "exit-0": lambda: sys.exit(0),
    "gone": lambda: os._exit(5),
    "memory": lambda: bytearray(1 << 60),
    "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "terminated": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "caused": caused,
    "group": group,
    "hook": hook,
    "broken_hook": broken_hook,
    "interrupt": interrupt,
    "closed": closed,
    "order": order,
    "thread": thread,
    "streams": streams,
    "fork": fork,
    "objects": objects,
    "imports_torch": imports_torch,
}

WAYS[sys.argv[1]]()
