"""Memory columns whose name contains the unit: `gpu_mem_mb`, `rss_gb`, `VRAM (GiB)`.

Words of the host (`rss`, `ram`, `cpu`, `process`) make it `rss_bytes`. All else is `gpu_mem_bytes`, a plain
`mem_mb` too: what training loops print under that name is mostly `torch.cuda.max_memory_allocated()`.
A `MB` is 10^6 bytes and a `MiB` 2^20, as in text logs.
"""

from __future__ import annotations

import re

_UNITS = {
    "bytes": 1.0,
    **{f"{letter}b": 1000.0**power for power, letter in enumerate("kmgt", 1)},
    **{f"{letter}ib": 1024.0**power for power, letter in enumerate("kmgt", 1)},
}
_HOST = frozenset({"rss", "ram", "cpu", "host", "process", "proc", "resident", "system", "sys", "maxrss"})
_GPU = frozenset({"gpu", "cuda", "vram", "device", "hbm"})
_MEMORY = frozenset({"mem", "memory", "rss", "maxrss", "ram", "vram", "gpu", "cuda"})
_ADJECTIVES = frozenset("max peak alloc allocated reserved cached used usage use in current cur".split())
_NUMBERED = re.compile(r"(gpu|cuda|rank|device)(\d+)")


def memory(words: list[str]) -> tuple[str, str, float] | None:
    """Canonical metric, part (the number of a device) and bytes per unit; None when there is no unit."""
    if words[-1:] == ["b"] and len(words) > 2:
        words = [*words[:-2], words[-2] + "b"]  # `GiB` falls apart into `Gi` and `B`
    if len(words) < 2 or words[-1] not in _UNITS:
        return None
    kinds, part = set[str](), ""
    for word in words[:-1]:
        numbered = _NUMBERED.fullmatch(word)
        if numbered or word.isdigit():
            part = numbered[2] if numbered else word
        if not word.isdigit():
            kinds.add(numbered[1] if numbered else word)
    if not kinds & _MEMORY or kinds - _MEMORY - _HOST - _GPU - _ADJECTIVES:
        return None
    metric = "rss_bytes" if kinds & _HOST and not kinds & _GPU else "gpu_mem_bytes"
    return metric, part, _UNITS[words[-1]]
