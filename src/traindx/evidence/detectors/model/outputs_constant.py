"""The model gives the same output for every sample of a batch, though the targets differ.

Seen when outputs vary over the batch by less than a thousandth of their size in the last third of the looks
while inputs and targets do vary. It is what dead units, far too large steps, a signal lost with depth or an
overwhelming penalty leave behind: it says that nothing is learned, not why.

Silent in the first looks, where zero-initialised heads give one output for all, for batches under 4, and for
targets that do not vary either. Known mistakes: tasks whose answer is the same for all inputs.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import late, odd_objective, sampled, usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="One output for all inputs", needs=("output/*",), family="output_spread")


def detect(case: Case, *, spread_share: float = 1e-3, min_samples: int = 4, min_steps: int = 30) -> Detected:
    spread = sampled(case, "output/batch_std", min_samples)
    if spread is None or spread.x[-1] < min_steps or odd_objective(case):
        return Skipped(f"at least {min_samples} samples of outputs, the last after {min_steps} steps")
    constant = usual(case, "input/constant_share")
    if constant is not None and constant > 0.999:
        return Skipped()
    size, level = _size(case), late(spread)
    if size <= 0 or level > spread_share * size or not _targets_vary(case):
        return None
    sentence = (
        f"Outputs differ by {text(level)} over a batch at a size of {text(size)}: the same answer for every "
        "input."
    )
    return Finding(sentence, "not_learning", "medium", float(spread.x[-1]), numbers={"output_spread": level})


def _size(case: Case) -> float:
    """How large outputs are, or what they are compared with if that is larger."""
    sizes = [usual(case, name) for name in ("output/std", "output/mean", "output/max", "target/std")]
    return max((abs(size) for size in sizes if size is not None), default=0.0)


def _targets_vary(case: Case) -> bool:
    spread, kinds = usual(case, "target/std"), usual(case, "target/distinct")
    return (spread is not None and spread > 0) or (kinds is not None and kinds > 1)


def fires() -> Runs:
    x = [1, 2, 4, 8, 16, 32, 64]
    same = {"output/batch_std": (x, [0.2, 0.1, 1e-3, 1e-6, 0, 0, 0]), "output/std": (x, [0.5] * 7)}
    yield run({**same, "target/distinct": (x, [5] * 7), "input/constant_share": (x, [0.0] * 7)})


def silent() -> Runs:
    x = [1, 2, 4, 8, 16, 32, 64]
    alive = {"output/batch_std": (x, [0.2, 0.3, 0.5, 0.8, 1, 1, 2]), "output/std": (x, [0.5] * 7)}
    yield run({**alive, "target/distinct": (x, [5] * 7)})
    head = {"output/batch_std": (x, [0, 0, 0.1, 0.2, 0.3, 0.5, 0.9]), "output/std": (x, [0.5] * 7)}
    yield run({**head, "target/std": (x, [1.0] * 7)})
    alike = {"output/batch_std": (x, [1e-5] * 7), "output/std": (x, [0.5] * 7)}
    yield run({**alike, "target/std": (x, [0.0] * 7)})
