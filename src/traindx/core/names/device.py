"""Columns about the machine: how busy a GPU is and how much memory is used, by the words of their names.

`gpu_busy_share` and `gpu_mem_share` are shares of 1, whether a column has percent or shares. Memory with its
unit in the name (`gpu_mem_mb`, `rss_gb`, `VRAM (GiB)`) is in bytes: `rss_bytes` with words of the host
(`rss`, `ram`, `cpu`, `process`), else `gpu_mem_bytes`, a plain `mem_mb` too: what training loops print under
that name is mostly `torch.cuda.max_memory_allocated()`. A `MB` is 10^6 bytes and a `MiB` 2^20, as in text
logs. Memory without a unit is `gpu_mem`. The number of a device is the part: `gpu_busy_share/0`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS = {
    "bytes": 1.0,
    **{f"{letter}b": 1000.0**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024.0**power for power, letter in enumerate("kmgt", 1)},
    "kilobytes": 1e3,
    "megabytes": 1e6,
    "gigabytes": 1e9,
}
_HOST = frozenset("rss ram cpu host process proc resident maxrss".split())
_GPU = frozenset("gpu cuda vram device hbm".split())
_MEMORY = frozenset("mem memory rss maxrss ram vram".split())
_BUSY = frozenset("util utilization utilisation busy load".split())
_PERCENT = frozenset("percent percentage pct perc".split())
_SHARES = frozenset("share fraction frac ratio".split())
# What stands in such names and does not change what is measured.
_FILLERS = frozenset(
    """
    max peak alloc allocated reserved cached used usage use in current cur mean avg average total
    system sys monitoring monitor stats perf performance resource resources hardware hw machine
    """.split()
)
_NUMBERED = re.compile(r"(gpu|cuda|rank|device)(\d+)")
# W&B's own system metrics: percent without saying so, and a `memory` that is the time of memory access.
_WANDB = re.compile(r"(?:system[./])?gpu\.(?:process\.)?(\d+)\.(gpu|memory|memoryAllocated)")
_WANDB_METRICS = {"gpu": "gpu_busy_share", "memoryAllocated": "gpu_mem_share"}


class DeviceColumn(NamedTuple):
    """A column about the machine: metric, number of the device, factor to the metric's unit."""

    metric: str
    part: str
    factor: float


def wandb_column(raw: str) -> DeviceColumn | None:
    """A system metric by the name W&B gives it; its metric is empty where it is no such share."""
    match = _WANDB.fullmatch(raw)
    return DeviceColumn(_WANDB_METRICS.get(match[2], ""), match[1], 0.01) if match else None


def device_column(words: list[str]) -> DeviceColumn | None:
    """What the words of a name measure on the machine; None when it is anything else."""
    if words[-1:] == ["b"] and len(words) > 2:
        words = [*words[:-2], words[-2] + "b"]  # `GiB` falls apart into `Gi` and `B`
    unit = words[-1] if words and words[-1] in _UNITS else ""
    kinds, part = set[str](), ""
    for word in words[:-1] if unit else words:
        numbered = _NUMBERED.fullmatch(word)
        if numbered or word.isdigit():
            part = numbered[2] if numbered else word
        if not word.isdigit():
            kinds.add(numbered[1] if numbered else word)
    subject = kinds - _FILLERS
    if subject - _HOST - _GPU - _MEMORY - _BUSY - _PERCENT - _SHARES:
        return None
    on_host = bool(subject & _HOST) or bool(kinds & {"system", "sys"})
    on_gpu = bool(subject & _GPU)
    if unit:
        if not subject & (_MEMORY | {"gpu", "cuda"}) or subject & (_BUSY | _PERCENT | _SHARES):
            return None
        return DeviceColumn("rss_bytes" if on_host and not on_gpu else "gpu_mem_bytes", part, _UNITS[unit])
    return _without_unit(words, subject, part, on_gpu, on_host)


def _without_unit(
    words: list[str], subject: set[str], part: str, on_gpu: bool, on_host: bool
) -> DeviceColumn | None:
    """Shares, and memory in a unit that is not known."""
    factor = 0.01 if subject & _PERCENT else 1.0
    shared = bool(subject & (_PERCENT | _SHARES))
    if not subject & _MEMORY:
        busy = on_gpu and not subject & _HOST and bool(shared or subject & _BUSY)
        return DeviceColumn("gpu_busy_share", part, factor) if busy else None
    if on_host and not on_gpu:
        return None
    if words[0] in _BUSY:  # nvidia-smi's `utilization.memory`: the time of memory access
        return None
    if shared or subject & _BUSY:
        return DeviceColumn("gpu_mem_share", part, factor)
    return DeviceColumn("gpu_mem", part, 1.0) if on_gpu else None
