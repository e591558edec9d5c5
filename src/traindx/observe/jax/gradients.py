"""Gradients of a sampled step, also where only the updated weights leave the compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np

from traindx.observe.arrays import Values
from traindx.observe.jax import optimizers
from traindx.observe.jax.pytrees import leaves, sample
from traindx.observe.jax.setup_facts import JaxFacts
from traindx.observe.jax.tracing import Notes

# An update so small compared with its weight is mostly rounding: no gradient can be read from it.
_ROUNDING = 1e-5


class StateBefore:
    """Weights and optimizer state before a step, which may donate their memory."""

    def __init__(self) -> None:
        self.weights: list[Values | None] = []
        self.moments: dict[str, dict[int, Values | None]] = {}
        self.counts: list[int] = []

    def read(self, notes: Notes, arguments: Any) -> None:
        argument_leaves = leaves(arguments)
        self.weights = [sample(argument_leaves[place]) for place in notes.weights]
        for moment, places in notes.moments.items():
            self.moments[moment] = {
                number: sample(argument_leaves[pair[0]]) for number, pair in places.items()
            }
        for place in notes.counts:
            value = sample(argument_leaves[place])
            if value is not None:
                self.counts.append(int(value[0]))


def step_gradients(
    facts: JaxFacts,
    step: int,
    notes: Notes,
    state_before: StateBefore,
    out: list[Any],
    after: list[Values | None],
) -> list[Values | None]:
    """As they left the function; else from the moments of the only optimizer, else from its updates."""
    count = len(notes.weights)
    if notes.gradients:
        return [sample(out[notes.gradients[n]]) if n in notes.gradients else None for n in range(count)]
    fact = facts.only_optimizer
    if fact is None:
        return [None] * count
    for moment in ("mu", "trace"):
        places = notes.moments.get(moment, {})
        old_moments = state_before.moments.get(moment, {})
        gradients: list[Values | None] = []
        for n in range(count):
            old, new = old_moments.get(n), sample(out[places[n][1]]) if n in places else None
            gradients.append(
                optimizers.gradient(fact, moment, old, new) if old is not None and new is not None else None
            )
        if any(gradient is not None for gradient in gradients):
            return gradients
    rate = facts.rate(step, True)
    return [_from_update(fact, rate, state_before.weights[n], after[n]) for n in range(count)]


def _from_update(
    fact: dict[str, Any], rate: float | None, before: Values | None, after: Values | None
) -> Values | None:
    """Plain gradient descent moves weights along the gradient."""
    plain = fact["class"] == "SGD" and not fact["group"].get("momentum")
    if not plain or not rate or before is None or after is None:
        return None
    change = before - after
    enough = float(np.abs(change).max()) > _ROUNDING * float(np.abs(before).max())
    return change / rate if enough or not change.any() else None
