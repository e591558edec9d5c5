"""Whether two arms of one seed are the same run: only then is a difference the change's doing."""

from __future__ import annotations

import numpy as np

from traindx.experiment.outcomes import Outcome


def difference(first: Outcome, second: Outcome) -> str | None:
    """How two runs of the same arm and seed differ, in one sentence; None when they are equal.

    Compared as far as both went. Runs without a common step cannot be compared, which is reported, too.
    """
    first_losses, second_losses = (_losses(outcome) for outcome in (first, second))
    common = sorted(first_losses.keys() & second_losses.keys())
    seed = first.arm.seed
    if not common:
        return f"two runs of seed {seed} have no step in common: they cannot be compared"
    apart = next((step for step in common if not _equal(first_losses[step], second_losses[step])), None)
    if apart is None:
        return None
    start_text = "from the first step on" if apart == common[0] else f"from step {apart:g} on"
    return (
        f"two runs of seed {seed} differ {start_text} "
        f"(loss {first_losses[apart]:.4g} and {second_losses[apart]:.4g}): the script "
        "draws random numbers that no seed sets, or computes in no fixed order, so trials are not paired"
    )


def _losses(outcome: Outcome) -> dict[float, float]:
    loss = outcome.run.series.get("loss") if outcome.run is not None else None
    return {} if loss is None else dict(zip(loss.steps.tolist(), loss.values.tolist(), strict=True))


def _equal(first: float, second: float) -> bool:
    return first == second or bool(np.isnan(first) and np.isnan(second))
