"""Prints everything a program can see of how it was started."""

import dataclasses
import inspect
import io
import os
import pickle
import sys
import threading


@dataclasses.dataclass
class Point:
    x: int
    y: "list[int]"


def here() -> str:
    return inspect.getsource(here)


def main() -> None:
    for name, value in list(globals().items()):
        if name.startswith("__"):
            print(name, type(value).__name__, "" if name == "__builtins__" else value)
    print(sys.argv)
    print(sys.path)
    print(sys.modules["__main__"].__dict__ is globals())
    print(os.getcwd(), threading.active_count(), threading.current_thread().name)
    point = pickle.loads(pickle.dumps(Point(1, [2])))  # noqa: S301
    print(point, Point.__module__, type(point) is Point)
    print(here(), inspect.getsourcefile(Point))
    print(type(sys.stdout), sys.stdout is sys.__stdout__, sys.stdout.isatty(), sys.stdout.fileno())
    print(isinstance(sys.stdout, io.TextIOWrapper), sys.stdout.encoding, sys.stdin.read())
    print(sys.flags, sys.warnoptions, sys.excepthook is sys.__excepthook__)
    print(sys.stderr.write("on standard error\n"))
    sys.stdout.writelines(["a\n", "b\n"])


if __name__ == "__main__":
    main()
