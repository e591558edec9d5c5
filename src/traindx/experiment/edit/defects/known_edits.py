"""Remedies whose edit a change or a detector of the script has already."""

from __future__ import annotations

from collections.abc import Callable

from traindx.experiment.edit.changes import activations, gradients, inits, modes, outputs, parameters, scaling
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import take_edits
from traindx.experiment.edit.result import Uncertain


def linted(*detectors: str) -> Callable[[Job], str]:
    """An edit that takes over those of some detectors."""

    def edit(job: Job) -> str:
        texts = take_edits(job, *detectors)
        if not texts:
            raise Uncertain("The defect was not found in the script: fix it by hand.")
        return " ".join(dict.fromkeys(texts))

    return edit


EDITS = {
    "zero_gradients": (gradients.zero_gradients,),
    "set_modes": (modes.force_modes,),
    "pass_logits": (outputs.pass_logits,),
    "add_activation": (outputs.pass_logits,),
    "fix_output_layer": (outputs.drop_output_activation,),
    "train_all_parameters": (linted("script_step_without_gradient"), parameters.train_all_parameters),
    "add_nonlinearity": (activations.add_between,),
    "revive_units": (inits.level_biases,),
    "fix_scaler_order": (linted("script_clip_before_unscale", "script_scaler_half_used"),),
    "add_scaler": (scaling.scale_loss,),
    "free_memory": (linted("script_graph_kept"),),
    "shuffle_data": (linted("script_not_shuffled"),),
}
