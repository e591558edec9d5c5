"""Accumulated gradients."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._accumulation import accumulation, sketched
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import decay, run

_ADAPTIVE = ("adam", "lion", "rmsprop", "adagrad", "adafactor", "lamb", "rprop")


@Detector("Gradients thrown away unused", needs=("fact:optimizers",), family="accumulation")
def accumulation_discarded(case: Case, *, min_steps: int = 3, step_share: float = 0.8) -> Detected:
    """Gradients are thrown away before any step uses them.

    Seen when nearly every step is preceded by backward calls on other batches whose gradients were cleared
    before the step: `zero_grad` stands inside the loop over the parts of a batch. Only the last part counts;
    the work on the others is lost, and the batch is not as large as it seems.

    Silent about several optimizers (a critic's gradients are cleared on purpose) and about second looks at
    one batch (SAM, line searches).
    """
    if not case.inside.fact("accumulation"):
        return None
    accumulated = accumulation(case, min_steps)
    if accumulated is None:
        return Skipped("one optimizer")
    matched = accumulated.batches >= step_share * accumulated.backwards
    if accumulated.wasteful < step_share or accumulated.backwards < 1.9 or not matched:
        return None
    times = text(round(accumulated.backwards, 1))
    lost = 1 - 1 / accumulated.backwards
    sentence = (
        f"Of the {times} backward calls before each step only the last one counts: those of the others are "
        f"cleared before the step, {percent(lost)} of the work is lost."
    )
    return Finding(
        sentence, "silent_defect", "high", case.span[0], numbers={"accumulated": times, "lost": percent(lost)}
    )


@Detector("Accumulates without dividing", needs=("fact:optimizers",), family="accumulation")
def accumulation_undivided(
    case: Case, *, min_steps: int = 3, step_share: float = 0.8, undivided_share: float = 0.9
) -> Detected:
    """Gradients of several batches are added up, and the loss is not divided by their number.

    Seen when nearly every step has several backward calls, each on a batch of its own, and each on the whole
    mean loss: the gradient is as many times too large, and with it the rate of SGD, what clipping cuts and
    what Adam's epsilon means. The loss does not depend on how a batch is split only if it is divided.

    Of low severity where no loader tells batches apart. Silent about several losses of one batch, closures
    that are called again (L-BFGS, SAM), several loaders that each have a loss, sums, and losses that are
    divided. Known mistake: gradients that are divided by hand.
    """
    if not case.inside.fact("accumulation"):
        return None
    accumulated = accumulation(case, min_steps)
    if accumulated is None or accumulated.share is None:
        return Skipped("one optimizer, and a loss function of torch's own")
    loaders = sum(loader.get("role") == "training" for loader in case.inside.loaders)
    averaged = all(loss.get("reduction") == "mean" for loss in case.inside.losses)
    several = (
        accumulated.several >= step_share and accumulated.backwards >= 1.9 and accumulated.wasteful < 0.1
    )
    matched = step_share * accumulated.backwards <= accumulated.batches <= 1.3 * accumulated.backwards
    by_hand = not case.inside.loaders and accumulated.backwards >= 3 and len(case.inside.losses) == 1
    if (
        not (several and (matched or by_hand) and averaged and accumulated.share >= undivided_share)
        or 1 < accumulated.backwards <= loaders
    ):
        return None
    times = text(round(accumulated.backwards, 1))
    optimizer = case.word("optimizer")
    hidden = any(name in optimizer for name in _ADAPTIVE)
    effect = "which this optimizer mostly hides" if hidden else f"as if the rate were {times} times as high"
    return Finding(
        f"Each step adds up the gradients of {times} batches, and each loss goes into backward whole: "
        f"gradients are {times} times too large, {effect}.",
        "silent_defect",
        "medium" if matched else "low",
        case.span[0],
        strength=1.0 if matched else 0.8,
        numbers={"accumulated": times},
    )


def cases() -> Cases:
    yield from accumulation_discarded.fires(
        run({"loss": decay(24, 2.0, 0.5)}, facts=sketched(thrown=72, steps_with_thrown=24))
    )
    loss = {"loss": decay(24, 2.0, 0.5)}
    yield from accumulation_discarded.silent(
        run(loss, facts=sketched()),
        run(loss, facts=sketched(thrown=24, steps_with_thrown=24, backwards=48, batches=24)),
        run(loss, facts={"optimizers": [{"class": "SGD"}]}),
    )
    yield from accumulation_undivided.fires(
        run({"loss": decay(24, 2.0, 0.5)}, facts=sketched(), settings={"optimizer": "SGD"})
    )
    yield from accumulation_undivided.silent(
        run(loss, facts=sketched(share=0.25)),
        run(loss, facts=sketched(batches=24) | {"loaders": [{"role": "training"}]}),
        run(loss, facts={"optimizers": [{"class": "SGD"}]}),
    )
    loaders = [{"role": "training"}, {"role": "training"}]
    yield from accumulation_undivided.silent(
        run(loss, facts=sketched(backwards=48, batches=48) | {"loaders": loaders})
    )
