"""The few properties of tensors that depend on the backend of Keras."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from traindx.observe.arrays import Values

_STATEFUL = frozenset(
    "RandomUniform RandomStandardNormal TruncatedNormal RandomShuffle Multinomial RandomUniformInt "
    "RandomGamma RandomPoissonV2 StatefulStandardNormalV2 StatefulUniform".split()
)


def scope_of() -> Any:
    """The TensorFlow graph that is being traced; None where code runs as it is written."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or tensorflow.executing_eagerly():
        return None
    return tensorflow.compat.v1.get_default_graph()


@contextlib.contextmanager
def untracked() -> Iterator[None]:
    """PyTorch does not follow what is computed here."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    with torch.no_grad():
        yield


def tape_records() -> bool:
    """Whether code runs as it is written, and a gradient tape of TensorFlow records it."""
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None or not tensorflow.executing_eagerly():
        return False
    record: Any = sys.modules.get("tensorflow.python.eager.record")
    return record is None or bool(record.could_possibly_record())


def draws_by_state(graph: Any) -> bool:
    """Whether a graph draws random numbers from a stream of its own, as `tf.random.normal` does."""
    if graph is None:
        return False
    if any(op.type in _STATEFUL for op in graph.get_operations()):
        return True
    library = graph.as_graph_def(add_shapes=False).library
    return any(node.op in _STATEFUL for function in library.function for node in function.node_def)


def call_mode() -> object:
    """`training=` of the model that is being called; None where it was not given."""
    from keras.src.backend.common import global_state

    return getattr(global_state.get_global_attribute("current_call_ctx"), "training", None)


def flat(structure: Any) -> list[Any]:
    """All tensors of nested lists, tuples and mappings."""
    from keras import tree

    return [leaf for leaf in tree.flatten(structure) if leaf is not None]


def is_real(tensor: Any) -> bool:
    return "float" in str(getattr(tensor, "dtype", ""))


def number(value: Any) -> Any:
    """A scalar in single precision; several numbers by their mean."""
    from keras import ops

    tensor = ops.cast(ops.convert_to_tensor(getattr(value, "value", value)), "float32")
    return ops.mean(tensor) if len(tensor.shape) else tensor


def host(tensor: Any) -> Values:
    """As an array, wherever it is."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu()
    return np.asarray(tensor)


def host_all(structure: Any) -> Any:
    """The same structure with arrays."""
    if isinstance(structure, dict):
        return {key: host_all(value) for key, value in structure.items()}
    if isinstance(structure, tuple | list):
        return tuple(host_all(value) for value in structure)
    return host(structure)
