"""Arms as edited copies of the script, where no change at run time reaches the training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from traindx.experiment.edit import Edited, edit_for_all
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.keras import uses_keras
from traindx.experiment.edit.result import Uncertain
from traindx.source.jax import differentiates

if TYPE_CHECKING:
    from traindx.core.nouns import Run
    from traindx.experiment.arms import Arm
    from traindx.experiment.runtime.change import Change
    from traindx.source.script import Script

# What an arm can do without: it only saves time.
_SPARED = frozenset(("stop_at_divergence",))
# Libraries that train with optimizers of PyTorch; Keras on its PyTorch backend does not.
_TORCH = re.compile(r"\b(?:torch\.optim|lightning|transformers|accelerate|fastai)\b")
CANNOT = "this training cannot be changed while it runs"


def unreachable(script: Script | None) -> str:
    """The library whose training no change at run time reaches, by the source; empty where one may."""
    if script is None or any(_TORCH.search(source.text) for source in script.sources):
        return ""
    try:
        job = Job(script)
    except Uncertain:
        return ""
    if uses_keras(job):
        return "Keras"
    by_optax = any(optimizer.name.startswith("optax.") for optimizer in job.optimizers())
    return "JAX" if by_optax or differentiates(script) else ""


@dataclass
class EditedArms:
    """Changes of arms as edits of one script; `run` is what is known of its training."""

    script: Script
    args: Sequence[str] = ()
    run: Run | None = None
    _edits: dict[object, Edited | None] = field(default_factory=dict)

    def edit(self, changes: Sequence[Change]) -> Edited | None:
        """The edit that does what changes do; None where there is none."""
        needed = tuple(change for change in changes if change.id not in _SPARED)
        if needed not in self._edits:
            edit = edit_for_all(self.script, needed, run=self.run, args=self.args) if needed else None
            self._edits[needed] = edit if isinstance(edit, Edited) else None
        return self._edits[needed]

    def arm(self, arm: Arm) -> Arm:
        """The arm with its changes written into the source; as it is, where it has none."""
        edit = self.edit(arm.changes) if arm.changes else None
        return replace(arm, changes=()).edited(edit) if edit is not None else arm
