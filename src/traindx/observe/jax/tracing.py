"""What tracing a step shows: which inputs are trained, and which output is the loss.

Values are known by identity while a function is traced. Nothing is added to what is compiled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from traindx.observe.jax.pytrees import (
    Names,
    Path,
    is_array,
    is_float,
    is_tracer,
    leaves,
    names,
    short,
    with_paths,
)

# Parts of a path below which an optimizer keeps numbers of each weight.
State = list[tuple[Names, Any]]
MOMENTS = ("mu", "nu", "trace", "ema", "momentum", "velocity", "sum_of_squares")
_open = threading.local()


@dataclass
class Notes:
    """A traced function that trains: positions count the leaves of its arguments or of its result."""

    weights: list[int] = field(default_factory=list)
    names: list[Names] = field(default_factory=list)
    loss: Path | None = None
    loss_place: int | None = None
    # Places of those arguments that are traced.
    arrays: list[int] = field(default_factory=list)
    losses: int = 0
    gradients: dict[int, int] = field(default_factory=dict)
    updated: dict[int, int] = field(default_factory=dict)
    # For each moment of an optimizer: weight -> position in the arguments and in the result.
    moments: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    # A second set of weights among the arguments: an average, a teacher, a target network.
    copy: list[int] = field(default_factory=list)
    batch: list[int] = field(default_factory=list)
    target: int | None = None
    output: int | None = None
    counts: list[int] = field(default_factory=list)
    rate: int | None = None
    repeats: int = 1
    # The new state of the optimizer does not leave, while the weights that it updated do.
    state_dropped: bool = False
    optimizers: list[dict[str, Any]] = field(default_factory=list)
    loss_calls: list[dict[str, Any]] = field(default_factory=list)

    @property
    def trains(self) -> bool:
        return bool(self.weights)


class Frame:
    """One function while it is traced."""

    def __init__(self, arguments: Any) -> None:
        self.inputs = with_paths(arguments)
        self._places = {id(leaf): place for place, (_, leaf) in enumerate(self.inputs)}
        # Values are known by their identity: none may be freed, and its place taken, before the end.
        self._references: list[Any] = [leaf for _, leaf in self.inputs]
        self._weights: list[int] = []
        self._names: list[Names] = []
        self._values: dict[int, int] = {}
        self._gradients: dict[int, int] = {}
        self._updated: dict[int, int] = {}
        self._probabilities: set[int] = set()
        self._applied = False
        self._states: list[tuple[State, State]] = []
        self.notes = Notes()

    def hold(self, tree: Any) -> list[Any]:
        values = leaves(tree)
        self._references += values
        return values

    def place(self, leaf: Any) -> int | None:
        return self._places.get(id(leaf))

    def differentiated(
        self, weights: Any, value: Any, gradients: Any, layer_names: list[Names] | None = None
    ) -> None:
        """A loss was differentiated for these weights; without a value only gradients were asked for."""
        listed = with_paths(weights)
        places = [self.place(leaf) for _, leaf in listed]
        if not listed or any(place is None for place in places):
            return
        self.notes.losses += 1
        if value is not None:
            self.hold(value)
            self._values.setdefault(id(value), len(self._values))
        if not self._weights:
            self._weights = [place for place in places if place is not None]
            self._names = layer_names or [short(names(path)) for path, _ in listed]
        for leaf, gradient in zip(places, leaves(gradients), strict=False):
            if leaf in self._weights:
                self._references.append(gradient)
                self._gradients[id(gradient)] = self._weights.index(leaf)

    def applied(self, weights: Any, result: Any) -> None:
        """Updates were added to weights."""
        for weight, leaf in zip(leaves(weights), self.hold(result), strict=False):
            place = self.place(weight)
            if place in self._weights:
                self._applied = True
                self._updated[id(leaf)] = self._weights.index(place)

    def optimizer(self, fact: dict[str, Any], before: Any = None, after: Any = None) -> None:
        """A transformation was asked for updates; its state as it was, and as it is from now on."""
        if fact not in self.notes.optimizers:
            self.notes.optimizers.append(fact)
        self.state(*([(names(path), leaf) for path, leaf in with_paths(state)] for state in (before, after)))

    def state(self, before: State, after: State) -> None:
        self._references += [leaf for _, leaf in (*before, *after)]
        self._states.append((before, after))

    def probabilities(self, result: Any) -> None:
        self._references.append(result)
        self._probabilities.add(id(result))

    def loss_call(self, fact: dict[str, Any], output: Any, target: Any) -> None:
        """A loss function of optax compared an output with a target."""
        if id(output) in self._probabilities:
            fact["after_layers"] = ["Softmax"]
        self.notes.target = self.notes.target if self.notes.target is not None else self.place(target)
        self._references.append(output)
        self.notes.loss_calls.append(fact)

    def close(self, result: Any) -> Notes:
        """The function returned: what left it, by position."""
        notes = self.notes
        notes.weights, notes.names = self._weights, self._names
        outputs = with_paths(result)
        notes.gradients = self._positions(outputs, self._gradients)
        notes.updated = self._positions(outputs, self._updated)
        if notes.weights:
            notes.arrays = [place for place, (_, leaf) in enumerate(self.inputs) if is_tracer(leaf)]
            self._find_loss(outputs)
            places = [place for place, (path, _) in enumerate(outputs) if path == notes.loss]
            notes.loss_place = places[0] if places else None
            if not notes.updated and not notes.gradients and not self._applied:
                notes.updated = self._by_name(outputs)
            notes.copy = list(self._by_name(self.inputs, frozenset(self._weights)).values())
            self._find_moments(outputs)
            self._find_batch(outputs)
        self._references.clear()
        return notes

    @staticmethod
    def _positions(outputs: list[tuple[Path, Any]], numbers: dict[int, int]) -> dict[int, int]:
        positions: dict[int, int] = {}
        for place, (_, leaf) in enumerate(outputs):
            number = numbers.get(id(leaf))
            if number is not None:
                positions.setdefault(number, place)
        return positions

    def _find_loss(self, outputs: list[tuple[Path, Any]]) -> None:
        """The value that was differentiated, if it leaves; else a number called loss, or the first one."""
        leaving = [(self._values[id(leaf)], path) for path, leaf in outputs if id(leaf) in self._values]
        if leaving:
            self.notes.loss = min(leaving, key=lambda entry: entry[0])[1]
            return
        carried = {self._kind(path, leaf) for path, leaf in self.inputs}
        numbers = [
            (path, leaf)
            for path, leaf in outputs
            if is_float(leaf) and not leaf.shape and self._kind(path, leaf) not in carried
        ]
        loss_numbers = [entry for entry in numbers if any("loss" in part.lower() for part in names(entry[0]))]
        for path, _ in (loss_numbers or numbers)[:1]:
            self.notes.loss = path

    @staticmethod
    def _kind(path: Path, leaf: Any) -> tuple[Names, Any]:
        return names(path)[-2:], getattr(leaf, "shape", None)

    def _by_name(self, values: list[tuple[Path, Any]], but: frozenset[int] = frozenset()) -> dict[int, int]:
        """The first group of values that are called as the weights are and have their shapes."""
        groups: dict[Names, dict[int, int]] = {}
        for place, (path, leaf) in enumerate(values):
            words = tuple(part for part in names(path) if part not in ("value", "raw_value"))
            for number, name in enumerate(self._names if place not in but else ()):
                prefix = words[: len(words) - len(name)]
                alike = words[len(prefix) :] == name and _shape(leaf) == self._shape(number)
                if alike and not any(word in MOMENTS for word in prefix):
                    groups.setdefault(prefix, {}).setdefault(number, place)
        return next((group for group in groups.values() if len(group) == len(self._names)), {})

    def _shape(self, number: int) -> tuple[int, ...]:
        return _shape(self.inputs[self._weights[number]][1])

    def _find_moments(self, outputs: list[tuple[Path, Any]]) -> None:
        leaving = {id(leaf): place for place, (_, leaf) in enumerate(outputs)}
        for before, after in self._states:
            for moment in ("mu", "trace", "nu"):
                old, new = ([leaf for words, leaf in state if moment in words] for state in (before, after))
                shapes = [self._shape(number) for number in range(len(self._weights))]
                if [_shape(leaf) for leaf in old] != shapes or len(new) != len(old):
                    continue
                places = [
                    (self.place(old_leaf), leaving.get(id(new_leaf)))
                    for old_leaf, new_leaf in zip(old, new, strict=True)
                ]
                if self.notes.updated and all(i is not None and o is None for i, o in places):
                    self.notes.state_dropped = True
                positions = {n: (i, o) for n, (i, o) in enumerate(places) if i is not None and o is not None}
                self.notes.moments.setdefault(moment, positions)
            for words, leaf in before:
                place = self.place(leaf)
                if place is not None and words[-1] == "count":
                    self.notes.counts.append(place)
        for place, (path, _) in enumerate(self.inputs):
            words = names(path)
            if "hyperparams" in words and words[-1] == "learning_rate":
                self.notes.rate = place

    def _find_batch(self, outputs: list[tuple[Path, Any]]) -> None:
        """Arrays that are neither weights nor state, as many rows each as there are samples."""
        carried = {self._kind(path, leaf) for path, leaf in outputs}
        state = {id(leaf) for before, _ in self._states for _, leaf in before}
        places = [
            place
            for place, (path, leaf) in enumerate(self.inputs)
            if place not in self._weights
            and is_array(leaf)
            and _shape(leaf)[:1] > (1,)
            and id(leaf) not in state
            and self._kind(path, leaf) not in carried
        ]
        lengths = [_shape(self.inputs[place][1])[0] for place in places]
        row_count = max(set(lengths), key=lengths.count) if lengths else 0
        self.notes.batch = [place for place in places if _shape(self.inputs[place][1])[0] == row_count]
        self._find_output(outputs)

    def _find_output(self, outputs: list[tuple[Path, Any]]) -> None:
        """What a loss function compared, if an output has its shape and is nothing else."""
        shape = self.notes.loss_calls[0]["shape"] if self.notes.loss_calls else None
        argument_kinds = {self._kind(path, leaf) for path, leaf in self.inputs}
        state = {id(leaf) for _, after in self._states for _, leaf in after}
        used_places = {*self.notes.gradients.values(), *self.notes.updated.values()}
        for place, (path, leaf) in enumerate(outputs):
            if not shape or not is_float(leaf) or _shape(leaf) != shape or place in used_places:
                continue
            if id(leaf) not in state and self._kind(path, leaf) not in argument_kinds:
                self.notes.output = place


def _shape(leaf: Any) -> tuple[int, ...]:
    return tuple(getattr(leaf, "shape", ()))


def eager_notes(weights: list[tuple[Path, Any]], argument_leaves: list[Any], *, has_value: bool) -> Notes:
    """Of a loss that is differentiated without being compiled: the result is its value and the gradients."""
    from jax.tree_util import SequenceKey

    places = {id(leaf): place for place, leaf in enumerate(argument_leaves)}
    notes = Notes(loss=(SequenceKey(0),) if has_value else None, losses=1)
    notes.names = [short(names(path)) for path, _ in weights]
    notes.weights = [places[id(leaf)] for _, leaf in weights]
    notes.batch = [
        place
        for place, leaf in enumerate(argument_leaves)
        if place not in notes.weights and is_array(leaf) and leaf.shape and leaf.shape[0] > 1
    ]
    notes.gradients = {number: number + has_value for number in range(len(weights))}
    return notes


def frame() -> Frame | None:
    """The function of ours that is traced now, the innermost one."""
    stack = getattr(_open, "stack", None)
    return stack[-1] if stack else None


@contextmanager
def traced(arguments: Any) -> Iterator[Frame]:
    """While a function runs that JAX traces."""
    if not hasattr(_open, "stack"):
        _open.stack = []
    opened = Frame(arguments)
    _open.stack.append(opened)
    try:
        yield opened
    finally:
        _open.stack.remove(opened)
