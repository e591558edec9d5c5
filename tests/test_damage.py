"""Every sample, cut short anywhere and corrupted at random, is read without an exception.

`TRAINDX_DEBUG` lets exceptions through that the finder would turn into a note.
"""

from __future__ import annotations

import random
import shutil
import zlib
from pathlib import Path

import pytest

import traindx

SAMPLES = Path(__file__).parent / "samples"
FILES = sorted(
    path
    for path in SAMPLES.rglob("*")
    if path.is_file() and "make" not in path.relative_to(SAMPLES).parts and path.name != "truth.json"
)
SMALL = 1500
CUTS = 40
FLIPS = 25


@pytest.fixture(autouse=True)
def exceptions_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRAINDX_DEBUG", "1")


def read(path: Path) -> None:
    found = traindx.read(path)
    for run in found.runs:
        for series in run.series.values():
            assert series.steps.size == series.values.size > 0
            assert (series.steps[1:] >= series.steps[:-1]).all()
    for note in found.skipped:
        assert "\n" not in note.text


def prefixes(data: bytes, rng: random.Random) -> list[bytes]:
    if len(data) <= SMALL:
        return [data[:n] for n in range(len(data))]
    places = {1, 7, len(data) - 1, *(rng.randrange(len(data)) for _ in range(CUTS))}
    return [data[:n] for n in sorted(places)]


def corrupted(data: bytes, rng: random.Random) -> bytes:
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        at = rng.randrange(len(out) or 1)
        kind = rng.randrange(4)
        if kind == 0 and out:
            out[at] = rng.randrange(256)
        elif kind == 1:
            out[at:at] = rng.choice(
                (b"\0" * 9, b"\n", b",,,", b"{", b"nan", b"\xff\xfe", b"1e999", rng.randbytes(8))
            )
        elif kind == 2:
            del out[at : at + rng.randrange(1, 40)]
        else:
            out[at:at] = out[max(0, at - 30) : at]
    return bytes(out)


@pytest.mark.parametrize("sample", FILES, ids=lambda p: p.relative_to(SAMPLES).as_posix())
def test_damage_raises_nothing(sample: Path, tmp_path: Path) -> None:
    """The file is damaged in place, among its companions, since these tell how it is read."""
    rng = random.Random(zlib.crc32(sample.relative_to(SAMPLES).as_posix().encode()))
    folder = tmp_path / sample.parent.name
    shutil.copytree(sample.parent, folder)
    victim = folder / sample.name
    data = sample.read_bytes()
    for piece in prefixes(data, rng) + [corrupted(data, rng) for _ in range(FLIPS)]:
        victim.write_bytes(piece)
        read(victim)
    read(folder)
