"""The batches of sampled steps: what is remembered of them, and recorded at the end."""

from __future__ import annotations

from typing import Any

from traindx.observe.data.batches import Batches
from traindx.observe.data.fingerprints import Fingerprints

Groups = dict[str, dict[str, object]]


class SampledBatches:
    """Inputs, targets and outputs; a framework says where they are."""

    def __init__(self) -> None:
        self.batches = Batches()
        self.samples = Fingerprints()

    def facts(self) -> dict[str, Any]:
        """Classes and samples over the whole training."""
        return {
            "classes": self.batches.classes(),
            "samples": self.samples.facts(),
        } | self.samples.sequence_facts()
