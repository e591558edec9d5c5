"""Damage of every kind, made from real files: values that no writer writes, bytes from elsewhere."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORDING = HERE / "recording"


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


NASTY: list[Any] = [
    *(None, True, False, 0, -1, 10**30, 10**400),
    *(1e308, float("inf"), float("-inf"), float("nan")),
    *("", "x", "nan", "1e999", "9" * 6000, "a" * 100_000, "\ud800", "\x1b[31mred\n\0", "-", "python '"),
    *("/dev/zero", "/", "a\0b.py", "python -m os", "\u0663"),
    *([], {}, [[[]]], [None, 1, "x", {}], {"a": {"b": [1]}}, {"": None}, [{}] * 3),
    *(nested(90), nested(900)),
]
PIECES = (
    *(b"", b"{", b"}", b"[[[[", b'"', b",", b"=", b"\n", b"\r", b"\0" * 9, b"#", b"'''"),
    *(b"9" * 6000, b"0x" + b"f" * 9000, b"\xff\xfe", b"\\ud800", b"Infinity", b"NaN", b"-", b"1e999"),
    *(b"null", b"[" * 5000, b'{"a":' * 5000, b"\xf0\x9f\x98\x80", b"[[x]]", b"\x1b[2J"),
)


def recording(folder: Path) -> Path:
    """A copy of a real recording, its script beside it."""
    here = folder / ".traindx" / "r"
    here.mkdir(parents=True)
    for path in RECORDING.iterdir():
        target = folder / path.name if path.suffix == ".py" else here / path.name
        if path.is_file():
            target.write_bytes(path.read_bytes().replace(b"/FOLDER", str(folder).encode()))
    return here


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to everything in a document."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """The document with something else in a place."""
    if not at:
        return new
    whole = copy.deepcopy(value)
    around = whole
    for key in at[:-1]:
        around = around[key]
    around[at[-1]] = new
    return whole


def other_value(document: bytes, rng: random.Random) -> bytes:
    """A JSON document with something else in one of its places, or under one of its names."""
    value = json.loads(document)
    at = rng.choice(list(places(value)))
    if at and isinstance(at[-1], str) and rng.random() < 0.1:
        return document.replace(
            json.dumps(at[-1]).encode(), json.dumps(rng.choice(("", "x", "loss"))).encode()
        )
    # Written by hand: the long integers are more than `json` writes.
    mark = "here comes the other value"
    text = json.dumps(put(value, at, mark))
    return text.replace(json.dumps(mark), _written(rng.choice(NASTY))).encode()


def _written(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value > 1 << 64:
        return "1" + "0" * (6000 if value > 10**100 else 30)
    return json.dumps(value)


def other_bytes(data: bytes, rng: random.Random) -> bytes:
    """Pieces put in, taken out or written over anywhere."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(out) + 1)
        out[at : at + rng.choice((0, 1, 5, 40))] = rng.choice(PIECES)
    return bytes(out[: rng.randrange(len(out) + 1)]) if rng.random() < 0.1 else bytes(out)


def other_line(lines: bytes, rng: random.Random) -> bytes:
    """JSON lines of which some have something else in a place, or are damaged."""
    found = lines.split(b"\n")
    for _ in range(rng.choice((1, 1, 4, 30))):
        at = rng.randrange(len(found))
        try:
            found[at] = other_value(found[at], rng) if rng.random() < 0.7 else other_bytes(found[at], rng)
        except (ValueError, RecursionError):  # it is damaged already
            continue
    return b"\n".join(found)
