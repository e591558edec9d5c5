"""Loss scaling of half precision: gradients used unscaled, a scale that is missing or collapses."""

from collections.abc import Mapping
from math import log2

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Event, Finding, Run, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, noisy, run


@Detector("fp16 without loss scaling", needs=("fact:optimizers",), family="scaler_missing")
def fp16_without_scaler(case: Case) -> Detected:
    """Gradients are computed in fp16 and the loss is not scaled.

    A sign: below about 6e-8 a gradient in fp16 is zero, which is what loss scaling is for. Seen when the
    recording shows fp16 autocast or fp16 weights and of no scaler.

    Silent with bf16, which has the range of fp32, and with a scaler.
    """
    precision = half_precision(case)
    if not precision:
        return None if case.inside.models else Skipped("a recording of the model")
    if "loss_scale" in case.run.series:
        return None
    return Finding(f"{precision} and no GradScaler scales the loss.", None, "low", case.span[0])


def half_precision(case: Case) -> str:
    """What is in fp16, in words; empty when nothing is."""
    precision = case.word("precision")
    weights = [model.get("dtypes") for model in case.inside.models]
    if any(isinstance(dtypes, Mapping) and "float16" in dtypes for dtypes in weights):
        return "Weights are fp16"
    autocast = "float16" in precision and "bfloat16" not in precision
    return "Autocast computes in fp16" if autocast else ""


def _run(dtype: str, **series: list[float]) -> Run:
    model = {"class": "Net", "parameters": 10, "dtypes": {dtype: 10}}
    curves = {"loss": [1.4, 1.5, 1.3] * 20, **series}
    return run(curves, facts={"models": [model], "optimizers": [{"class": "SGD"}]})


@Detector("Steps on scaled gradients", needs=("loss_scale",), family="scaler_order")
def steps_on_scaled_gradients(case: Case) -> Detected:
    """The optimizer steps on gradients that are multiplied by the loss scale.

    Seen when the loss went through `scaler.scale`, and `optimizer.step()` was called itself, not
    `scaler.step(optimizer)`, without `unscale_` before it: gradients are tens of thousands of times too
    large, and an overflow is not skipped.

    Silent when the scaler steps, unscales, or hands its scale to a fused optimizer.
    """
    if not case.inside.recorded:
        return Skipped("a recording")
    recorded_events = case.inside.events("step_on_scaled_gradients")
    if not recorded_events:
        return None
    return Finding(
        f"{recorded_events[0].text[:1].upper()}{recorded_events[0].text[1:]}.",
        "silent_defect",
        "high",
        recorded_events[0].step,
    )


@Detector("Clips before unscaling", needs=("loss_scale",), family="scaler_order")
def clip_before_unscale(case: Case) -> Detected:
    """Gradients are clipped while they are still multiplied by the loss scale.

    Told by the recorder: the norm is taken and cut before `unscale_`, so a threshold of 1 is one of
    1/65,536, and every step is cut to nearly nothing.

    Silent without a scaler, and when the gradients were unscaled first.
    """
    if not case.inside.recorded:
        return Skipped("a recording")
    notes = case.inside.events("clip_before_unscale")
    if not notes:
        return None
    clip = case.number("clip")
    limit = f" to a norm of {clip:g}" if clip is not None else ""
    sentence = (
        f"At {len(notes)} steps gradients were clipped{limit} before they were unscaled: {notes[0].text}."
    )
    return Finding(
        sentence,
        "silent_defect",
        "high",
        notes[0].step,
        numbers={"clipped_scaled": len(notes)},
    )


@Detector("Loss scale collapses", family="overflow")
def loss_scale_collapse(
    loss_scale: Curve,
    *,
    halvings: int = 10,
    low_scale: float = 1.0,
    high_scale: float = 256.0,
    min_points: int = 5,
) -> Detected:
    """The loss scale of fp16 training collapses.

    A dynamic scaler halves the scale whenever a gradient overflows. A few halvings at the start are normal:
    it begins high and finds its level. Seen when the scale ends at {low_scale} or below after having been
    {high_scale} or more, or ends {halvings} halvings below the level it had settled at: every step
    overflows.

    Silent about static scales, values that are no powers of two (another `scale` was logged), few points.
    """
    values = loss_scale.y
    if values.min() < 0 or not _powers_of_two(values):
        return Skipped("a loss scale in powers of two")
    last = float(values[-1])
    settled = float(np.median(values[len(values) // 10 : max(len(values) // 2, len(values) // 10 + 1)]))
    peak = float(values.max())
    sunk = last <= low_scale and peak >= high_scale
    fell = settled / max(last, 1e-30) >= 2.0**halvings
    if not sunk and not fell:
        return None
    start = peak if sunk else settled
    onset = float(loss_scale.x[np.flatnonzero(values >= min(start, settled) / 2)[-1]])
    count = round(log2(start / max(last, 1e-30)))
    sentence = (
        f"The loss scale falls from {text(start)} to {text(last)} ({count} halvings) after "
        f"{where(loss_scale, onset)}: nearly every step overflows."
    )
    numbers = {"loss_scale": last, "onset": onset, "halvings": count}
    return Finding(sentence, "nonfinite", "high", onset, numbers=numbers, marks=(onset,))


def _powers_of_two(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> bool:
    mantissa, _ = np.frexp(values[values > 0])
    return bool(mantissa.size) and float((mantissa == 0.5).mean()) >= 0.9


def cases() -> Cases:
    yield from fp16_without_scaler.fires(_run("float16"))
    yield from fp16_without_scaler.silent(_run("float32"))
    yield from fp16_without_scaler.silent(_run("bfloat16"))
    yield from fp16_without_scaler.silent(_run("float16", loss_scale=[65536.0] * 60))
    event = Event("step_on_scaled_gradients", "the optimizer stepped on gradients scaled by 65536", 0.0)
    yield from steps_on_scaled_gradients.fires(
        run({"loss": noisy([1.4] * 60, 0.05), "loss_scale": [65536.0] * 60}, events=[event], facts={"a": 1})
    )
    yield from steps_on_scaled_gradients.silent(
        run({"loss": decay(60, 2.0, 0.5), "loss_scale": [65536.0] * 60}, facts={"a": 1}),
        run({"loss": decay(60, 2.0, 0.5)}, facts={"a": 1}),
    )
    event = Event("clip_before_unscale", "gradients were clipped while scaled by 65536", 1.0)
    yield from clip_before_unscale.fires(
        run({"loss": noisy([1.4] * 60, 0.05), "loss_scale": [65536.0] * 60}, events=[event], facts={"a": 1})
    )
    yield from clip_before_unscale.silent(
        run({"loss": decay(60, 2.0, 0.5), "loss_scale": [65536.0] * 60}, facts={"a": 1}),
        run({"loss": decay(60, 2.0, 0.5)}, facts={"a": 1}),
    )
    yield from loss_scale_collapse.fires(
        run({"loss_scale": [65536.0] * 20 + [65536.0 / 2**n for n in range(1, 18)]}),
        run({"loss_scale": [2.0**20] * 30 + [2.0 ** (20 - n) for n in range(14)]}),
    )
    yield from loss_scale_collapse.silent(
        run({"loss_scale": [65536.0, 32768.0, 16384.0, 8192.0] + [8192.0] * 40}),
        run({"loss_scale": [1.0] * 40}),
        run({"loss_scale": [2.0 ** (32 - n) for n in range(16)] + [65536.0] * 200}),
        run({"loss_scale": np.linspace(300.0, 0.5, 40)}),
    )
