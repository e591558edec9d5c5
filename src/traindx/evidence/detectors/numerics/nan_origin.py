"""What made the first NaN or Inf, as the recorder found it in the step."""

from traindx.evidence.detector import Cases, Detected, Detector, Event, Run, number
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.testing.sketch import run


@Detector("NaN came with the data", family="nan_origin")
def nan_from_input(origin: RecordedOrigin) -> Detected:
    """The first NaN or Inf was in the data.

    Told by the autograd graph of the step: what went into the first operation that is not finite was not
    finite already and came from outside of the model, as input or as target. The batch, the row and the
    feature are named where they can be.

    Silent when the batch was finite, and when no recording holds the step.
    """
    if origin.kind != "input":
        return None
    bad = number(origin.event.data, "batch_nonfinite")
    phrase = f" The batch holds {bad:g} values that are no numbers." if bad else ""
    return origin.finding(f"{origin.text}.{phrase} Weights and arithmetic were sound before it.")


@Detector("NaN was made by arithmetic", family="nan_origin")
def nan_from_arithmetic(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    """The first NaN or Inf was made by arithmetic out of finite numbers.

    Told by the autograd graph of the step: log at 0, a division by 0, a root at 0 (whose slope is infinite),
    exp beyond the range, a softmax over a row that is masked whole. Batch, weights and gradients were finite
    before it. Clearer when loss and gradients had not grown before it: else growth drove the arithmetic to
    its edge. Less clear, too, where it was made in the backward pass and the operation is not known.

    Silent about overflows of plain products, which need growth, and about half precision.
    """
    if origin.kind not in ("arithmetic", "constant"):
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "loss and gradients were ordinary before it"
    if origin.kind == "constant":
        phrase = "the batch itself is finite, so the script made it of the data"
    doubtful = bool(origin.grown) or not origin.operation
    return origin.finding(f"{origin.text}; {phrase}.", doubtful_strength if doubtful else 1.0)


@Detector("NaN of an empty mean", family="nan_origin")
def nan_from_empty_targets(origin: RecordedOrigin) -> Detected:
    """The first NaN is a mean over nothing: no target was left in the batch.

    Told by the autograd graph of the step: every label of the batch is the ignored one or has weight 0, or a
    mean is taken over an empty selection.

    Silent when targets were there.
    """
    if origin.kind != "empty":
        return None
    return origin.finding(f"{origin.text}.")


@Detector("NaN from the first weights", family="nan_origin")
def nan_from_first_weights(origin: RecordedOrigin) -> Detected:
    """The very first forward or backward pass overflows: the weights were made too large, or not at all.

    Told by the autograd graph of the first step: no update was made yet, the data are of an ordinary size,
    and a plain product leaves the range of numbers, or the weights hold NaN from the start (memory that
    nobody filled).

    Silent about data that are huge themselves, arithmetic at its edge, and half precision.
    """
    if origin.kind != "init":
        return None
    return origin.finding(
        f"{origin.text}; no step had been taken yet (0 updates), so the weights were made that way."
    )


@Detector("NaN after growth", family="nan_origin")
def nan_after_growth(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    """Values grew beyond the range of numbers: the first NaN or Inf is an overflow of plain products.

    Told by the autograd graph of the step: no operation was at its edge and no data were bad; weights,
    activations or gradients had become too large. The steps overshoot, or gradients explode.

    Silent when arithmetic, data or half precision made it, when the very first forward pass overflowed, and
    when one gradient leapt out of a long calm (nan_after_burst).
    """
    if origin.kind != "growth" and not (origin.kind in ("arithmetic", "half") and origin.grown):
        return None
    if origin.burst and origin.kind == "growth":
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "no growth was logged before it"
    return origin.finding(f"{origin.text}; {phrase}.", 1.0 if origin.kind == "growth" else doubtful_strength)


@Detector("NaN from the range of half precision", family="nan_origin")
def nan_from_half_range(origin: RecordedOrigin, *, doubtful_strength: float = 0.6) -> Detected:
    """The first NaN or Inf is an overflow of half precision.

    Told by the autograd graph of the step: a product in fp16 left its range (65,504), which fp32 and bf16
    hold with ease. Less clear when loss and gradients had grown before it.

    Silent about overflows in full precision, and about scaled gradients that overflow now and then, which is
    how a loss scale is found.
    """
    if origin.kind != "half" or "scaled gradients" in origin.operation:
        return None
    phrase = f"before it {origin.grown}" if origin.grown else "loss and gradients were ordinary before it"
    return origin.finding(f"{origin.text}; {phrase}.", doubtful_strength if origin.grown else 1.0)


@Detector("NaN after one huge gradient", family="nan_origin")
def nan_after_burst(origin: RecordedOrigin) -> Detected:
    """One huge gradient out of a long calm threw the weights out, and the next values overflow.

    Told by the autograd graph of the step (a plain overflow, no operation at its edge, no bad data) and by
    the gradient norm, which was calm and leapt right before it: a rare steep place, a long sequence or an
    outlier, and nothing clipped it. Of a recurrent model without clipping the loss is believed as well,
    where it leapt out of 30 calm steps: the norm is not written down at every step.

    Silent when the growth took many steps (nan_after_growth), and under about 10 steps.
    """
    if origin.kind != "growth" or not origin.burst:
        return None
    return origin.finding(f"{origin.text}; before it {origin.burst}.")


_CALM, _GROWING = [2.0, 1.5, 1.2, 1.1], [1.0, 40.0, 3e5, 1e14]
_OVERFLOW = "float32 overflow in matrix product (largest 3.4028e+38)"


def _run(source: str, operation: str, losses: list[float] = _CALM, **data: object) -> Run:
    """A run whose first bad value comes after these losses."""
    step = max(0.0, len(losses) - 1.0)
    details = {"where": source, "operation": operation, "batch": step + 1, **data}
    event = Event("nonfinite", f"{operation} in layer 0: 1 of 192 values", step, details)
    return run({"loss": [*losses, float("nan")]}, events=[event], facts={"version": 2})


def _burst(norms: list[float], leap: float = 1.0, *, recurrent: bool = False) -> Run:
    details = {"where": "weights", "operation": ""}
    event = Event("nonfinite", "the weights held NaN before the forward pass", len(norms) - 1.0, details)
    loss = [*[1.0] * (len(norms) - 1), leap, float("nan")]
    models = [{"class": "Net", "recurrent": recurrent}]
    return run({"loss": loss, "grad_norm": norms}, events=[event], facts={"models": models})


def cases() -> Cases:
    bad, computed = (_run("input", "matrix product", batch_nonfinite=count) for count in (1, 0))
    log = _run("loss", "log of 0")
    yield from nan_from_input.fires(bad)
    yield from nan_from_input.silent(log, computed)
    yield from nan_from_arithmetic.fires(log, _run("backward", "sqrt at 0"), computed, _run("backward", ""))
    yield from nan_from_arithmetic.silent(
        bad, _run("forward", _OVERFLOW), _run("weights", ""), _run("backward", "", _GROWING)
    )
    nothing = "mean loss over no targets (all of them are ignored or weigh 0)"
    yield from nan_from_empty_targets.fires(_run("loss", nothing))
    yield from nan_from_empty_targets.silent(log, bad)
    yield from nan_from_first_weights.fires(_run("loss", _OVERFLOW, []), _run("weights", "", []))
    yield from nan_from_first_weights.silent(_run("loss", "log of 0", []), _run("loss", _OVERFLOW))
    yield from nan_after_growth.fires(_run("forward", _OVERFLOW, _GROWING), _run("weights", "", _GROWING))
    yield from nan_after_growth.silent(log, _run("input", "matrix product"))
    yield from nan_from_half_range.fires(
        _run("forward", "float16 overflow in matrix product (largest 65504)")
    )
    yield from nan_from_half_range.silent(
        _run("forward", _OVERFLOW, _GROWING), _run("backward", "float16 overflow of scaled gradients")
    )
    calm = [1.0, 1.3, 0.8] * 20
    yield from nan_after_burst.fires(_burst([*calm, 1.1, 4e6]), _burst(calm, 400.0, recurrent=True))
    yield from nan_after_burst.silent(
        _burst(calm), _burst(calm, 400.0), _burst([10.0**power for power in range(30)])
    )
