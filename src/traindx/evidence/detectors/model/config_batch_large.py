"""A batch holds a large part of the data, or thousands of samples.

Fires when one update takes a quarter or more of the training samples, or when the configured batch size is
{large_batch} or more and surely counts samples.

Silent in reinforcement learning, where large batches are the rule, and when the number may count tokens
(a language model).
Known mistakes: full-batch training is right for some small problems and for physics-informed nets.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._settings import counts_tokens, whole_batch
from traindx.testing.sketch import run

DETECTOR = Detector(title="Large batch", needs=("setting:batch_size",), family="batch")


def detect(
    case: Case, *, data_share: float = 0.25, large_batch: int = 8192, token_batch: int = 131072
) -> Detected:
    batch, whole = case.number("batch_size"), whole_batch(case)
    if batch is None or whole is None:
        return Skipped("the batch size as a number")
    if "rl" in case.traits:
        return Skipped("a training other than reinforcement learning")
    data = case.number("train_samples")
    if data and not counts_tokens(case) and batch >= data_share * data and batch > 1:
        part = min(1.0, batch / data)
        sentence = f"One batch of {text(batch)} holds {percent(part)} of the {text(data)} training samples."
        numbers = {"batch": batch, "train_samples": data}
        return Finding(sentence, strength=strength(part, data_share, 1.0), numbers=numbers)
    if large_batch <= batch <= token_batch and not counts_tokens(case):
        sentence = f"The batch size is {text(batch)}."
        return Finding(
            sentence, strength=strength(batch, large_batch / 2, 2 * large_batch), numbers={"batch": batch}
        )
    return None


def fires() -> Runs:
    yield run({}, settings={"batch_size": 100, "train_samples": 150})
    yield run({}, settings={"batch_size": 16384})


def silent() -> Runs:
    yield run({}, settings={"batch_size": 524288})
    yield run({"tokens_per_s": [1e6, 1e6]}, settings={"batch_size": 65536})
    yield run({}, settings={"batch_size": 256, "train_samples": 50000})
    yield run({}, settings={"batch_size": 16384}, traits=("rl",))
