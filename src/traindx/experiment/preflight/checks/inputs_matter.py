"""The loss depends on the input: with zeros in its place the training does worse.

Two arms that share all but the inputs are compared at the same steps. Fails when their losses are exactly
the same and the untrained model gives the same for zeros: the input never reaches the loss. Fails also
when the training has come to rest, over two epochs and more, where it comes to rest without inputs. Early
in a training this cannot tell: first of all every model learns a constant.
"""

from __future__ import annotations

from traindx.experiment.preflight.ablation import Wording, judged
from traindx.experiment.preflight.check import Answer, Item, failed, unknown
from traindx.experiment.preflight.observations import NO_INPUTS, UNTOUCHED, Flight, told

ITEM = Item(title="The input matters", group="learning", order=3)
_STEPS_LEAST = 20
_NOTHING = 1e-6
_WORDS = Wording(
    changed="with zeroed inputs",
    nothing="what was learned needs no input",
    do="Look whether the inputs reach the model, hold what the targets ask for, and belong to them.",
    cause="misaligned_labels",
)


def look(flight: Flight) -> Answer:
    mine, other = flight.losses(UNTOUCHED), flight.losses(NO_INPUTS)
    steps = min(mine.size, other.size)
    if steps >= _STEPS_LEAST and flight.case(NO_INPUTS) and (mine[:steps] == other[:steps]).all():
        change = told(flight.measure("inputs"), "change")
        if change is None or change > _NOTHING:
            return unknown(f"all {steps:,} losses are the same: the zeros did not reach the training.")
        return failed(
            f"all {steps:,} losses are exactly the same when the input is zeros.",
            do="Look whether the input reaches the model: overwritten, cut off, multiplied by zero?",
            cause="constant_inputs",
            steps=steps,
        )
    return judged(flight, NO_INPUTS, _WORDS)
