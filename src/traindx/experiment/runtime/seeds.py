"""Random numbers of a trial: the same on both arms of a pair, other ones for another seed.

Seed 0 leaves every seed of the script as it is, and gives a fixed one where the script asks for none, so
that two runs are alike. Seed k moves every seed the script sets by the same amount: torch, TensorFlow, JAX,
numpy, random, and generators of their own.
"""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from traindx.observe.import_hook import when_imported

SEEDS_FILE = "seeds.json"
# Far apart: a script that counts its seeds up does not meet the streams of the next trial.
_APART = 1_000_003
_START = 20_011
_31, _32, _63 = 1 << 31, 1 << 32, 1 << 63
_BETWEEN = ("random", "traindx", "numpy")
_LIBRARIES = ("torch", "numpy", "random", "traindx", "multiprocessing", "tensorflow", "keras", "jax")


class Seeds:
    """What a seed of the script becomes, and which libraries the script has seeded."""

    def __init__(self, seed: int, path: str | None = None) -> None:
        self.seed = seed
        self.shift = seed * _APART
        self._unasked: Counter[str] = Counter()
        self._within = threading.local()
        self._path = path
        self._by_script: dict[str, list[str]] = {}
        self._forks = 0

    def fork(self) -> None:
        self._forks += 1

    def of_child(self) -> int:
        """A seed of its own for each forked child, the same in every run."""
        return self.shift + 104_729 * self._forks

    def moved(self, seed: Any, size: int = _32) -> Any:
        """The seed to use: a fixed one for None."""
        if seed is None:
            module = _asking()
            self._unasked[module] += 1
            return (self.shift + zlib.crc32(f"{module} {self._unasked[module]}".encode())) % size
        if not self.shift:
            return seed
        if isinstance(seed, str):
            return f"{seed}+{self.shift}"
        if isinstance(seed, (bytes, bytearray)):
            return bytes(seed) + str(self.shift).encode()
        if isinstance(seed, float):
            return seed + self.shift
        try:
            number = int(seed)
        except (TypeError, ValueError):
            return self._moved_list(seed)
        return (number + self.shift) % size if number >= 0 else number - self.shift

    def _moved_list(self, seed: Any) -> Any:
        """A list of numbers gets one more; a generator that exists already keeps its stream."""
        try:
            return [*(int(part) for part in seed), self.shift]
        except (TypeError, ValueError):
            return seed

    def call(self, library: str, original: Callable[..., Any], size: int = _32) -> Callable[..., Any]:
        """A function whose first argument is a seed. One that calls another moves it once."""

        @functools.wraps(original)
        def seeded(*args: Any, **kwargs: Any) -> Any:
            if getattr(self._within, "on", False):
                return original(*args, **kwargs)
            self.note(library, args or tuple(kwargs.values()))
            key = next((name for name in ("seed", "a", "entropy", "x") if name in kwargs), None)
            if args or key is None:
                args = (self.moved(args[0] if args else None, size), *args[1:])
            else:
                kwargs[key] = self.moved(kwargs[key], size)
            self._within.on = True
            try:
                return original(*args, **kwargs)
            finally:
                self._within.on = False

        return seeded

    def note(self, library: str, args: tuple[Any, ...]) -> None:
        """Keep what the script seeds by itself; libraries seed their workers, too."""
        caller = str(sys._getframe(2).f_globals.get("__name__", "")).partition(".")[0]
        if caller in _LIBRARIES or not args or self._path is None:
            return
        if not isinstance(args[0], (int, float, str, bytes, list, tuple)):
            return
        texts = self._by_script.setdefault(library, [])
        text = repr(args[0])[:40]
        if text in texts or len(texts) >= 5:
            return
        texts.append(text)
        try:
            with open(self._path, "w", encoding="utf-8") as file:
                json.dump(self._by_script, file)
        except OSError:
            self._path = None


def _asking() -> str:
    """The module that asks for random numbers: others may draw more or fewer without changing its own."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _BETWEEN:
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


def begin(orders: Mapping[str, Any]) -> Seeds:
    """Seed this process and pass every later seed through `Seeds`."""
    scratch = orders.get("scratch")
    seeds = Seeds(int(orders.get("seed") or 0), os.path.join(str(scratch), SEEDS_FILE) if scratch else None)
    _random(seeds)
    when_imported("numpy.random", lambda module: _numpy(seeds, module))
    when_imported("torch", lambda module: _torch(seeds, module))
    when_imported("tensorflow", lambda module: _tensorflow(seeds, module))
    when_imported("jax.random", lambda module: _jax(seeds, module))
    when_imported("keras.src.random.seed_generator", lambda module: _keras(seeds, module))
    return seeds


def _random(seeds: Seeds) -> None:
    original = random.Random.seed
    shared: random.Random = random._inst

    def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
        if self is shared:
            seeds.note("random", (a,))
        elif a is None and _for_names():
            original(self, a, version)
            return
        original(self, seeds.moved(a, _63), version)

    random.Random.seed = seed  # type: ignore[method-assign]
    random.seed = shared.seed
    original(shared, _START + seeds.shift)
    if hasattr(os, "register_at_fork"):
        # Python gives every forked child a seed that nobody knows.
        os.register_at_fork(before=seeds.fork, after_in_child=lambda: original(shared, seeds.of_child()))


def _for_names() -> bool:
    """Whether a part of Python asks that makes names nobody else may have, for temporary files say."""
    return _asking().partition(".")[0] in sys.stdlib_module_names


def _numpy(seeds: Seeds, numpy_random: Any) -> None:
    numpy_random.seed((_START + seeds.shift) % _32)
    numpy_random.seed = seeds.call("numpy", numpy_random.seed)
    numpy_random.default_rng = seeds.call("numpy", numpy_random.default_rng, _63)
    for name in ("RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
        size = _32 if name in ("RandomState", "MT19937") else _63
        setattr(numpy_random, name, _as_called(seeds, getattr(numpy_random, name), size))


def _as_called(seeds: Seeds, original: Any, size: int) -> Any:
    """A class that makes instances of the original from a moved seed, and passes for it in `isinstance`."""
    make = seeds.call("numpy", original, size)

    class Kind(type):
        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            return make(*args, **kwargs) if cls is subclass else super().__call__(*args, **kwargs)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original) if cls is subclass else super().__instancecheck__(instance)

        def __subclasscheck__(cls, kind: type) -> bool:
            return issubclass(kind, original) if cls is subclass else super().__subclasscheck__(kind)

    subclass = Kind(
        original.__name__, (original,), {"__doc__": original.__doc__, "__module__": original.__module__}
    )
    return subclass


def _torch(seeds: Seeds, torch: Any) -> None:
    torch.manual_seed(_START + seeds.shift)
    for module in (torch, torch.random):
        module.manual_seed = seeds.call("torch", module.manual_seed, _63)
        module.seed = lambda: _fixed(seeds, torch)
    for name in ("manual_seed", "manual_seed_all"):
        for part in ("cuda", "mps", "xpu"):
            module = getattr(torch, part, None)
            if hasattr(module, name):
                setattr(module, name, seeds.call("torch", getattr(module, name), _63))
    if seeds.shift:
        torch.Generator = _generator(seeds, torch._C.Generator)


def _tensorflow(seeds: Seeds, tensorflow: Any) -> None:
    tensorflow.random.set_seed((_START + seeds.shift) % _31)
    tensorflow.random.set_seed = seeds.call("tensorflow", tensorflow.random.set_seed, _31)


def _jax(seeds: Seeds, jax_random: Any) -> None:
    for name in ("PRNGKey", "key"):
        setattr(jax_random, name, seeds.call("jax", getattr(jax_random, name), _31))


def _keras(seeds: Seeds, module: Any) -> None:
    """A layer's own seed; without one Keras draws it from `random`, which is seeded already."""
    original = module.SeedGenerator.__init__

    @functools.wraps(original)
    def seeded(self: Any, seed: Any = None, *args: Any, **kwargs: Any) -> None:
        original(self, seed if seed is None else seeds.moved(seed, _31), *args, **kwargs)

    module.SeedGenerator.__init__ = seeded


def _fixed(seeds: Seeds, torch: Any) -> int:
    """`torch.seed()` asks for any seed: it gets the next fixed one."""
    seed: int = seeds.moved(None, _63)
    torch.default_generator.manual_seed(seed)
    return seed


def _generator(seeds: Seeds, original: Any) -> Any:
    """torch's generator is closed: what scripts make is one that moves its seeds."""

    class Kind(type(original)):  # type: ignore[misc]
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

    class Generator(original, metaclass=Kind):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            del args, kwargs
            super().manual_seed(seeds.moved(self.initial_seed(), _63))

        def manual_seed(self, seed: int) -> Any:
            super().manual_seed(seeds.moved(seed, _63))
            return self

        def seed(self) -> int:
            fixed: int = seeds.moved(None, _63)
            super().manual_seed(fixed)
            return fixed

    Generator.__module__, Generator.__qualname__ = "torch", "Generator"
    return Generator
