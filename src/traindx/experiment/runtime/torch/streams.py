"""The states of all streams of random numbers in sight: saved, and put back."""

from __future__ import annotations

import contextlib
import copy
import random
import sys
from collections.abc import Iterator
from typing import Any

import torch


class Streams:
    """Torch's, numpy's and Python's own streams, and the generators that the script's frames hold."""

    def __init__(self) -> None:
        self._saved: list[tuple[Any, Any, Any]] = []

    @property
    def saved(self) -> bool:
        return bool(self._saved)

    def save(self) -> None:
        self._saved = [(torch.set_rng_state, torch.get_rng_state(), None)]
        if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            self._saved.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all(), None))
        self._saved.append((random.setstate, random.getstate(), None))
        numpy = sys.modules.get("numpy.random")
        if numpy is not None:
            self._saved.append((numpy.set_state, numpy.get_state(), None))
        for generator in _generators():
            if isinstance(generator, torch.Generator):
                self._saved.append((generator.set_state, generator.get_state(), generator))
            elif isinstance(generator, random.Random):
                self._saved.append((generator.setstate, generator.getstate(), generator))
            else:
                bits = (
                    generator._bit_generator
                    if hasattr(generator, "_bit_generator")
                    else generator.bit_generator
                )
                self._saved.append((_Bits(bits), copy.deepcopy(bits.state), generator))

    def restore(self) -> None:
        for put_back, state, _ in self._saved:
            put_back(state)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """All streams go on afterwards as if nothing had been drawn."""
        self.save()
        try:
            yield
        finally:
            self.restore()


class _Bits:
    def __init__(self, bits: Any) -> None:
        self._bits = bits

    def __call__(self, state: Any) -> None:
        self._bits.state = state


def _generators() -> list[Any]:
    """Generators that the functions now running hold, themselves or in their module."""
    numpy = sys.modules.get("numpy.random")
    kinds: tuple[type, ...] = (torch.Generator, random.Random)
    if numpy is not None:
        kinds += (numpy.Generator, numpy.RandomState)
    generators: dict[int, Any] = {}
    frame: Any = sys._getframe(1)
    while frame is not None:
        for names in (frame.f_locals, frame.f_globals):
            for value in list(names.values()):
                candidates = [value, *vars(value).values()] if _is_of_script(value) else [value]
                generators |= {
                    id(candidate): candidate for candidate in candidates if isinstance(candidate, kinds)
                }
        frame = frame.f_back
    return list(generators.values())


def _is_of_script(value: object) -> bool:
    return type(value).__module__ == "__main__" and hasattr(value, "__dict__")
