"""The inputs of a recorded batch."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped, number
from traindx.evidence.detectors._number_text import count, percent, strength, text, times
from traindx.evidence.sampled import odd_objective, sampled, starts_with_norm, training_loader, usual
from traindx.testing.sketch import run


@Detector("Inputs do not vary", needs=("input/*",), family="input_variety")
def inputs_constant(
    case: Case,
    *,
    equal_batches_share: float = 0.8,
    constant_features_share: float = 0.5,
    min_samples: int = 2,
) -> Detected:
    """Every sample of a batch is the same for the model: no feature varies.

    Seen when no feature of the sampled input varies over the batch in at least four of five looks: zeros,
    one row repeated, a broken pipeline.

    Silent for batches under 8, and where any feature varies. A sign when more than half of the features
    never vary. Known mistakes: models that learn one constant on purpose (a fitted image, an embedding of
    one input).
    """
    share = sampled(case, "input/constant_share", min_samples)
    if share is None:
        return Skipped("batches of at least 8 real-valued samples")
    whole = float((share.y > 0.999).mean())
    level = float(np.median(share.y))
    if whole >= equal_batches_share:
        mean, spread = usual(case, "input/mean") or 0.0, usual(case, "input/std") or 0.0
        kind = "all zero" if mean == 0 and spread == 0 else f"about {text(mean)}"
        sentence = f"All samples of a batch are the same in {percent(whole)} of the samples ({kind})."
        return Finding(
            sentence, "silent_defect", "medium" if odd_objective(case) else "high", float(share.x[0])
        )
    if level < constant_features_share:
        return None
    return Finding(f"{percent(level)} of the input's features do not vary over a batch.", strength=0.4)


@Detector("Inputs not scaled", needs=("input/mean",), family="input_scale")
def inputs_unscaled(
    case: Case,
    *,
    min_rms: float = 10.0,
    extreme_rms: float = 100.0,
    min_scale_ratio: float = 100.0,
    extreme_scale_ratio: float = 1000.0,
    large_rms: float = 3.0,
    mean_to_std: float = 5.0,
) -> Detected:
    """The model's inputs are large, far from zero, or on scales that differ {min_scale_ratio} times and more.

    Measured where they enter the model: size (root mean square) from {min_rms} on, a mean more than
    {mean_to_std} deviations from zero at a size above {large_rms}, or one feature spreading
    {min_scale_ratio} times wider than another. A likely defect, unless the answers end up right, from a size
    of {extreme_rms} on, or a ratio of {extreme_scale_ratio} at a size above {large_rms}: where all is small,
    the wide ratio comes from features that hardly vary, such as the edge of an image.

    Silent for whole numbers (tokens), for models that begin with a normalisation, and for features that do
    not vary. Known mistakes: inputs that mix amounts and switches on purpose, with an optimizer that copes.
    """
    mean, std = usual(case, "input/mean"), usual(case, "input/std")
    if mean is None or std is None:
        return Skipped("inputs of real numbers")
    if starts_with_norm(case):
        return None
    rms = float(np.hypot(mean, std))
    scales = sampled(case, "input/scale_ratio")
    apart = float(np.median(scales.y)) if scales is not None else 1.0
    far = rms > large_rms and abs(mean) > mean_to_std * std > 0
    if rms < min_rms and apart < min_scale_ratio and not far:
        return None
    uneven = apart >= extreme_scale_ratio and rms > large_rms
    grave = (rms >= extreme_rms or uneven) and not case.level.answers_right
    ratio = f" One feature spreads {times(apart)} wider than another." if apart >= min_scale_ratio else ""
    return Finding(
        f"Inputs have mean {text(mean)} and deviation {text(std)}.{ratio}",
        symptom="silent_defect" if grave or rms >= extreme_rms or apart >= extreme_scale_ratio else None,
        severity="medium" if grave else "low",
        strength=max(
            strength(rms, min_rms / 2, extreme_rms), strength(apart, min_scale_ratio / 2, extreme_scale_ratio)
        ),
        numbers={"input_mean": mean, "input_std": std, "scale_ratio": apart},
    )


@Detector("The same batch every step", needs=("input/repeat_share",), family="input_variety")
def batch_repeated(
    case: Case, *, repeat_share: float = 0.7, min_samples: int = 4, min_loader_batches: int = 3
) -> Detected:
    """The same batch comes at every step, although the data hold more.

    Seen when nearly every batch looked at is the one of the step before and the training's loader has
    several.

    Silent for training on the whole data at once, where every step has the same batch by design: without a
    loader that tells of more data it is a sign at most. Known mistakes: trying to overfit one batch, as a
    test.
    """
    repeats = sampled(case, "input/repeat_share", min_samples)
    distance = sampled(case, "input/repeat_distance")
    if repeats is None:
        return Skipped(f"at least {min_samples} samples of batches")
    again = float(repeats.y[-1])
    # The first batch looked at cannot be a repetition.
    if again < repeat_share * (1 - 1 / len(repeats)) or distance is None or distance.y.min() > 1:
        return None
    loader = training_loader(case)
    batches = number(loader, "batches") if loader is not None else None
    if batches is None or batches < min_loader_batches:
        return None
    sentence = (
        f"{percent(again)} of the sampled batches repeat the step before; the loader holds {count(batches)}."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"repeat_share": again, "batches": batches})


@Detector("Colours in turns along a line", needs=("input/*",), family="axes_mixed")
def colours_interleaved(case: Case, *, max_evenness: float = 0.7, min_samples: int = 3) -> Detected:
    """Images of three colours hold their colours in turns along each line, as the file had them.

    An image of (height, width, colours) does not become (colours, height, width) by a reshape: every plane
    then holds all colours, and a value is like the third after it and unlike its neighbours. The recorder
    measures that on lines of the batch: about 1 in images, near 0 in such arrays. Seen at {max_evenness} and
    less in every one of at least {min_samples} samples.

    Could not look without inputs of (batch, colours, height, width). Silent for noise, and for flat areas of
    three equal colours, where nothing shows. Known mistakes: patterns that repeat every three pixels.
    """
    evenness = sampled(case, "input/line_evenness", min_samples)
    if evenness is None:
        return Skipped("images of three colours with the colours in the second place")
    highest = float(evenness.y.max())
    if highest > max_evenness:
        return None
    return Finding(
        f"In all {len(evenness)} sampled batches the three colours take turns along the lines of the images "
        f"(evenness {text(highest)} at most, about 1 in images): they were reshaped to (3, height, width) "
        "instead of transposed.",
        "silent_defect",
        "high",
        float(evenness.x[0]),
        numbers={"evenness": highest},
    )


def _loader(batches: int) -> dict[str, object]:
    return {"loaders": [{"role": "training", "batch_size": 32, "batches": batches, "samples": 32 * batches}]}


def cases() -> Cases:
    yield from inputs_constant.fires(
        run({"input/constant_share": [1.0] * 5, "input/mean": [0.0] * 5, "input/std": [0.0] * 5}),
        run({"input/constant_share": [0.7] * 5, "input/mean": [0.2] * 5, "input/std": [0.4] * 5}),
    )
    yield from inputs_constant.silent(run({"input/constant_share": [0.0] * 5}))
    yield from inputs_constant.silent(
        run({"input/constant_share": [0.3, 0.25, 0.3], "input/mean": [0.1] * 3})
    )
    yield from inputs_constant.silent(run({"input/mean": [0.1] * 3}))
    yield from inputs_unscaled.fires(
        run({"input/mean": [120.0] * 4, "input/std": [70.0] * 4}),
        run({"input/mean": [500.0] * 4, "input/std": [9e3] * 4, "input/scale_ratio": [4e4] * 2}),
    )
    yield from inputs_unscaled.silent(
        run({"input/mean": [0.1] * 4, "input/std": [1.2] * 4, "input/scale_ratio": [3.0] * 2}),
        run({"input/mean": [0.5] * 4, "input/std": [0.3] * 4}),
    )
    first = {"models": [{"parameters": 9, "layer_list": [{"name": "0", "type": "BatchNorm2d"}]}]}
    yield from inputs_unscaled.silent(run({"input/mean": [120.0] * 4, "input/std": [70.0] * 4}, facts=first))
    again = {"input/repeat_share": [0.0, 0.5, 0.67, 0.75, 0.8, 0.83], "input/repeat_distance": [1.0] * 5}
    yield from batch_repeated.fires(run(again, facts=_loader(32)))
    yield from batch_repeated.silent(run(again))
    yield from batch_repeated.silent(run(again, facts=_loader(1)))
    yield from batch_repeated.silent(run({"input/repeat_share": [0.0] * 6}, facts=_loader(32)))
    yield from colours_interleaved.fires(run({"input/line_evenness": [0.3, 0.21, 0.44, 0.28]}))
    yield from colours_interleaved.silent(
        run({"input/line_evenness": [0.97, 0.92, 1.0, 0.88]}),
        run({"input/line_evenness": [0.3, 0.21, 0.92, 0.28]}),
        run({"input/line_evenness": [0.3, 0.21]}),
    )
