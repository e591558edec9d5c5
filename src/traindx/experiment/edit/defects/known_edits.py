"""Remedies whose edit an intervention or a detector of the script knows already."""

from __future__ import annotations

from traindx.core.nouns import Place
from traindx.experiment.edit.changes import activations, gradients, inits, modes, outputs, parameters
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.job import Job
from traindx.experiment.edit.lint_edits import findings, take
from traindx.experiment.edit.result import Uncertain


def linted(*detectors: str) -> Mender:
    """The edits of what some detectors see."""

    def mend(job: Job, place: Place | None) -> str:
        del place
        seen = [one for one in findings(job, *detectors) if one.edits]
        if not seen:
            raise Uncertain("The script does not show what is to be mended.")
        for one in seen:
            take(job.draft, one.edits)
        return " ".join(dict.fromkeys(one.text for one in seen))

    return mend


def _zero(job: Job, place: Place | None) -> str:
    del place
    return gradients.zero_gradients(job, {})


def _modes(job: Job, place: Place | None) -> str:
    del place
    return modes.force_modes(job, {})


def _logits(job: Job, place: Place | None) -> str:
    del place
    return outputs.pass_logits(job, {})


def _bound(job: Job, place: Place | None) -> str:
    del place
    return outputs.drop_output_activation(job)


def _parameters(job: Job, place: Place | None) -> str:
    del place
    return parameters.train_all_parameters(job, {})


def _between(job: Job, place: Place | None) -> str:
    del place
    return activations.add_between(job)


def _biases(job: Job, place: Place | None) -> str:
    del place
    return inits.level_biases(job)


MENDERS: dict[str, tuple[Mender, ...]] = {
    "zero_gradients": (_zero,),
    "set_modes": (_modes,),
    "pass_logits": (_logits,),
    "add_activation": (_logits,),
    "fix_output_layer": (_bound,),
    "train_all_parameters": (linted("script_step_without_gradient"), _parameters),
    "add_nonlinearity": (_between,),
    "revive_units": (_biases,),
    "fix_scaler_order": (linted("script_clip_before_unscale", "script_scaler_half_used"),),
    "free_memory": (linted("script_graph_kept"),),
    "shuffle_data": (linted("script_not_shuffled"),),
}
