"""Space and speed where checkpoints, logs and recordings are written."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from traindx.doctor.line import DoctorLine, Surroundings, size

SUBJECT = "disk"
_FULL, _LITTLE = 2**29, 5 * 2**30
_BLOCK = 2**22
_MOST, _LONGEST = 2**26, 0.6
_SLOW = 20e6
_FILES, _SLOW_FILE = 20, 0.02


def lines(place: Surroundings) -> Iterator[DoctorLine]:
    yield _space("disk_space", place.folder, "here")
    temporary = Path(tempfile.gettempdir())
    if _device(temporary) != _device(place.folder):
        yield _space("temporary_space", temporary, f"in {temporary}, where trials copy the folder to,")
    yield _speed(place)


def _device(path: Path) -> int:
    try:
        return os.stat(path).st_dev
    except OSError:
        return -1


def _space(id: str, path: Path, where: str) -> DoctorLine:
    try:
        usage = shutil.disk_usage(path)
        nodes = os.statvfs(path) if hasattr(os, "statvfs") else None
    except OSError as error:
        return DoctorLine(id, SUBJECT, "not_checked", f"{path}: {error.strerror}.")
    fact = f"{size(usage.free)} of {size(usage.total)} are free {where.rstrip(',')}."
    numbers = {"free": float(usage.free), "total": float(usage.total)}
    if nodes is not None and nodes.f_files and nodes.f_favail < 1000:
        fact = f"{nodes.f_favail:,} more files can be made {where.rstrip(',')}."
        return DoctorLine(
            id, SUBJECT, "problem", fact, "Delete files: no checkpoint can be written.", numbers
        )
    if usage.free < _FULL:
        advice = "Free some: a checkpoint that does not fit is torn, and the training ends."
        return DoctorLine(id, SUBJECT, "problem", fact, advice, numbers)
    if usage.free < _LITTLE:
        return DoctorLine(id, SUBJECT, "note", fact, "Enough for small models only.", numbers)
    return DoctorLine(id, SUBJECT, "ok", fact, numbers=numbers)


def _speed(place: Surroundings) -> DoctorLine:
    """Written through to the disk for at most half a second, then a few small files."""
    try:
        with tempfile.TemporaryDirectory(prefix=".traindx-doctor-", dir=place.folder) as folder:
            rate, per_file = _write(Path(folder)), _small_files(Path(folder))
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        advice = (
            "Recordings and checkpoints cannot be written here: go to another folder, or change its owner."
        )
        return DoctorLine("disk_speed", SUBJECT, "note", f"{place.folder} cannot be written: {why}.", advice)
    fact = f"Writes {rate / 2**20:,.0f} MB/s to the disk; a small file takes {1e3 * per_file:.2g} ms."
    numbers = {"bytes_per_second": rate, "small_file_seconds": per_file}
    if rate < _SLOW or per_file > _SLOW_FILE:
        advice = "Slow: copy the data to a local disk before the training, and write checkpoints less often."
        return DoctorLine("disk_speed", SUBJECT, "note", fact, advice, numbers)
    return DoctorLine("disk_speed", SUBJECT, "ok", fact, numbers=numbers)


def _write(folder: Path) -> float:
    block, written_bytes, start = os.urandom(_BLOCK), 0, time.perf_counter()
    with open(folder / "block", "wb", buffering=0) as file:
        while written_bytes < _MOST and time.perf_counter() - start < _LONGEST:
            written_bytes += file.write(block)
            os.fsync(file.fileno())
    return written_bytes / max(1e-9, time.perf_counter() - start)


def _small_files(folder: Path) -> float:
    """Seconds to write and read one small file."""
    start = time.perf_counter()
    for number in range(_FILES):
        path = folder / f"{number}"
        path.write_bytes(b"x" * 1000)
        path.read_bytes()
        if time.perf_counter() - start > _LONGEST:
            return (time.perf_counter() - start) / (number + 1)
    return (time.perf_counter() - start) / _FILES
