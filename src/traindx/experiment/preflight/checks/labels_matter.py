"""The labels matter: shuffled within each batch, the training does worse.

Two arms that share all but the labels are compared at the same steps. Fails only when the training has
come to rest, over an epoch and more, exactly where it comes to rest with shuffled labels: then nothing in
the inputs tells the targets, or inputs and labels were shuffled apart. Early in a training this cannot
tell.
"""

from __future__ import annotations

from traindx.experiment.preflight.ablation import Wording, judged
from traindx.experiment.preflight.check import Answer, Item
from traindx.experiment.preflight.observations import OTHER_LABELS, Flight

ITEM = Item(title="The labels matter", group="learning", order=4)
_WORDS = Wording(
    changed="with shuffled labels",
    nothing="the labels might as well be random",
    do="Look whether inputs and labels belong together: print a few pairs and check them by eye.",
    cause="misaligned_labels",
)


def look(flight: Flight) -> Answer:
    return judged(flight, OTHER_LABELS, _WORDS)
