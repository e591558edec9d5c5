"""Leaves of a pytree by name, and their numbers on the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from traindx.observe.arrays import Values

Path = tuple[Any, ...]
Names = tuple[str, ...]
# Parts of a path that only wrap: the state of NNX, the collection of Linen.
_WRAPPERS = ("params", "states", "value", "raw_value")
_ELEMENTS = 65_536


def with_paths(tree: Any) -> list[tuple[Path, Any]]:
    """All leaves with their paths."""
    from jax import tree_util

    return list(tree_util.tree_flatten_with_path(tree)[0])


def leaves(tree: Any) -> list[Any]:
    from jax import tree_util

    return list(tree_util.tree_leaves(tree))


def names(path: Path) -> Names:
    """The parts of a path as words."""
    return tuple(str(_key(part)) for part in path)


def _key(part: Any) -> Any:
    for attribute in ("key", "idx", "name"):
        if hasattr(part, attribute):
            return getattr(part, attribute)
    return part


def short(path: Names) -> Names:
    """Without what only wraps the model: `states 0 l1 kernel value` is `l1 kernel`."""
    rest = list(path)
    if "states" in rest:
        rest = rest[rest.index("states") + 2 :]
    return tuple(part for part in rest if part not in _WRAPPERS) or path or ("weights",)


def reach(tree: Any, path: Path) -> Any:
    """The leaf at a path."""
    for part in path:
        if hasattr(part, "idx"):
            tree = tree[part.idx]
        elif hasattr(part, "name"):
            tree = getattr(tree, part.name)
        else:
            tree = tree[part.key]
    return tree


def is_tracer(leaf: Any) -> bool:
    from jax.core import Tracer

    return isinstance(leaf, Tracer)


def is_array(leaf: Any) -> bool:
    """An array of JAX or numpy whose values are numbers."""
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype") and not is_key(leaf)


def is_float(leaf: Any) -> bool:
    return is_array(leaf) and np.dtype(leaf.dtype).name.startswith(("float", "bfloat"))


def is_key(leaf: Any) -> bool:
    """A key for random numbers, of the new or of the old kind."""
    kind = str(getattr(leaf, "dtype", ""))
    return kind.startswith("key<") or (kind == "uint32" and tuple(leaf.shape) == (2,))


def is_readable(leaf: Any) -> bool:
    """Whether its values can be read: not donated, not on another host."""
    if not is_array(leaf) or is_tracer(leaf):
        return False
    deleted = getattr(leaf, "is_deleted", None)
    if deleted is not None and deleted():
        return False
    return bool(getattr(leaf, "is_fully_addressable", True))


def sample(leaf: Any) -> Values | None:
    """At most so many elements, evenly, as a copy of its own: the array may be donated afterwards."""
    if not is_readable(leaf):
        return None
    values = np.asarray(leaf).reshape(-1)
    return values[:: apart(leaf.shape)].astype(np.float32, copy=True)


def apart(shape: Sequence[int]) -> int:
    """Each how many-th element is sampled."""
    return max(1, -(-int(np.prod(shape)) // _ELEMENTS))


def rows(leaf: Any, count: int = 4096) -> Values | None:
    """The first rows of a batch, as they are."""
    if not is_readable(leaf):
        return None
    values = np.asarray(leaf)[:count]
    return values.astype(np.float32) if values.dtype.name == "bfloat16" else np.array(values)
