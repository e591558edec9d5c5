"""What reached the model and the loss in a sampled step, measured as for every framework."""

from __future__ import annotations

from traindx.observe.arrays import Values, is_real
from traindx.observe.data.answers import answer_statistics
from traindx.observe.data.batches import input_statistics
from traindx.observe.data.fingerprints import Fingerprints
from traindx.observe.data.sampled_batches import Groups, SampledBatches
from traindx.observe.keras.loss_facts import aligned


class KerasBatches(SampledBatches):
    """Inputs, targets and outputs of sampled steps."""

    def restart(self) -> None:
        """Another training begins: what this one is judged on, that one may have learned from."""
        self.samples = Fingerprints()

    def groups(self, data: dict[str, Values], kind: str, step: int) -> Groups:
        """The statistics of one batch."""
        groups: Groups = {}
        inputs, target, output = data.get("input"), data.get("target"), data.get("output")
        if target is not None and output is not None:
            target, output = aligned(kind, target, output)
            groups["target"] = dict(self.batches.targets(target))
            if is_real(output):
                groups["output"] = input_statistics(output) | answer_statistics(kind, output, target)  # type: ignore[assignment]
        if inputs is not None:
            groups["input"] = dict(self.batches.input(inputs, step))
            self.samples.trained(inputs, target)
        return groups
