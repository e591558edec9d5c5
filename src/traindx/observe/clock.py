"""The clocks of the recorder, from before a program can put others in their place (`time.time = ...`)."""

from time import monotonic as monotonic
from time import perf_counter as perf_counter
from time import time as wall_clock

__all__ = ["monotonic", "perf_counter", "wall_clock"]
