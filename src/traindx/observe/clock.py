"""The clocks of the recorder, from before a program can put others in their place (`time.time = ...`)."""

import os
from time import monotonic as monotonic
from time import perf_counter as perf_counter
from time import time as wall_clock

__all__ = ["crowding", "monotonic", "perf_counter", "wall_clock"]


def crowding() -> float:
    """How many processes want each core of this machine, at least 1: seconds here are so much longer."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return round(max(1.0, os.getloadavg()[0] / cores), 2)
