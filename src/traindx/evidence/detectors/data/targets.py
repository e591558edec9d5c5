"""The targets of a recorded batch."""

import numpy as np

from traindx.core.kinds import loss_kind
from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Finding,
    Run,
    Skipped,
    number,
)
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._token_offsets import only_offset, token_offsets
from traindx.evidence.sampled import COMPARING, odd_objective, part, sampled, usual
from traindx.testing.sketch import decay, run


@Detector("No targets", needs=("target/*",), family="targets")
def targets_empty(
    case: Case, *, empty_share: float = 0.75, min_targets: int = 100, min_samples: int = 2
) -> Detected:
    """No target reaches the loss: all of them are ignored, or all are one and the same class.

    Seen when every target looked at is the number that cross-entropy passes over (-100), in at least three
    of four looks; or when all classes ever met are one.

    Silent where only a part is ignored, as in language models that learn answers only. Under {min_targets}
    targets a single class says nothing. Silent about contrastive losses, whose first answer is always the
    right one, and about a squared error, where one number is no class (the exponent of a density). Known
    mistakes: training with one class on purpose (real against made-up).
    """
    ignored = sampled(case, "target/ignored_share", min_samples)
    counts = {key: n for key, n in case.inside.fact("classes").items() if isinstance(n, int) and n > 0}
    if ignored is None:
        return Skipped()
    empty = float((ignored.y >= 0.999).mean())
    if empty >= empty_share:
        sentence = f"In {percent(empty)} of the samples every target is one that the loss ignores (-100)."
        return Finding(sentence, "silent_defect", "high", float(ignored.x[0]))
    if len(counts) == 1 and sum(counts.values()) >= min_targets and len(case.inside.losses) == 1:
        if odd_objective(case) or loss_kind(case.inside.losses[0]) in COMPARING:
            return Skipped()
        sentence = f"All {sum(counts.values())} sampled targets are class {next(iter(counts))}."
        return Finding(sentence, "silent_defect", "high", float(ignored.x[0]), strength=0.6)
    return None


@Detector("Targets equal inputs", needs=("fact:token_offsets|fact:samples",), family="token_offset")
def targets_equal_inputs(
    case: Case, *, same_share: float = 0.97, other_share: float = 0.9, copied_loss: float = 0.1
) -> Detected:
    """The targets are the inputs themselves, at the same places.

    Seen when nearly all target tokens ({same_share:%}) are the tokens the model got at the same position,
    and the loss falls under {copied_loss} of its start: the answer is given away, and the model learns to
    copy. A language model wants the next token.

    Could not look where inputs or targets are no tokens. Silent where the loss stays: an autoencoder with a
    narrow middle may be asked for its input. Silent for masked language models, whose targets are hidden.
    """
    shares, loss = token_offsets(case), case.loss
    if not shares or loss is None or not len(loss):
        return Skipped("batches of tokens with a target for each")
    if only_offset(shares, same_share=same_share, other_share=other_share) != 0:
        return None
    if loss.tail > copied_loss * loss.head:
        return None
    sentence = f"{percent(shares[0])} of the targets are the input token at the same place: nothing is to be "
    return Finding(f"{sentence}predicted.", "silent_defect", "high", numbers={"share": shares[0]})


@Detector("Attention sees the answer", needs=("fact:attention",), family="future")
def future_attended(case: Case, *, min_share: float = 0.02) -> Detected:
    """Attention looks at the tokens that the model is to predict.

    The targets are the next tokens of the input, so that an attention map over it must be zero above its
    diagonal. The maps of the first step are read; seen when places give {min_share:%} or more of their
    attention to later ones: the mask is missing, wrong or not passed on.

    Could not look where the targets are no next tokens, or no map was kept for the backward pass. Silent
    about an encoder whose input a causal decoder is to write again.
    """
    attention = case.inside.fact("attention")
    share, maps, seeing = (number(attention, key) for key in ("share", "maps", "open"))
    if share is None or maps is None or not seeing or share < min_share:
        return None
    return Finding(
        f"In {seeing:g} of {maps:g} attention maps, places give up to {percent(share)} of their attention "
        "to later places, which hold the tokens they are asked for: the causal mask is missing or wrong.",
        "silent_defect",
        "high",
        1.0,
        numbers={"share": share, "maps": maps, "open": seeing},
    )


@Detector("Target among the inputs", needs=("fact:samples",), family="telling_feature")
def target_among_inputs(case: Case, *, min_batches: int = 3) -> Detected:
    """One element of the input is the target itself, in every row of every sampled batch.

    A window that reaches into what is to be forecast, a label column left among the features, a target that
    was scaled together with the inputs: the model learns to copy, and a validation made the same way praises
    it. Seen when the values agree to four digits in {min_batches} batches and more.

    Could not look without one real number as the target of each sample. Silent for targets of fewer than
    three values. Known mistakes: a denoising or gap-filling task whose input keeps the value on purpose.
    """
    fact = part(case.inside.fact("samples"), "target_in_input")
    places, batches = fact.get("places"), number(fact, "batches")
    if batches is None or batches < min_batches or not isinstance(places, list):
        return Skipped(f"{min_batches} batches of real inputs with one target for each sample")
    if not places:
        return None
    at = ", ".join(map(str, places[:3]))
    return Finding(
        f"In every row of {round(batches)} sampled batches the target equals element {at} of the input: the "
        "answer is given away.",
        "silent_defect",
        "high",
        numbers={"batches": batches, "element": float(places[0])},
    )


def _places(*places: int, batches: int = 6) -> Run:
    return run(
        {}, facts={"samples": {"taken": 300, "target_in_input": {"batches": batches, "places": [*places]}}}
    )


def _tokens(last: float, **shares: float) -> Run:
    offsets = {"-1": 0.1, "0": 0.1, "1": 0.1, "2": 0.1} | {key.strip("_"): v for key, v in shares.items()}
    return run({"loss": decay(60, 3.0, last)}, facts={"token_offsets": offsets})


@Detector("Large targets", needs=("target/mean",), family="input_scale")
def targets_large(case: Case, *, min_rms: float = 30.0, full_strength_at: float = 1000.0) -> Detected:
    """Real-valued targets are large: a size (root mean square) of {min_rms} and more.

    A circumstance: outputs begin near zero, so the first loss and the first gradients are huge. Adam and a
    larger rate cope; reported as a sign.

    Silent for classes, for targets of usual size, and where the answers end up right.
    Known mistakes: units chosen on purpose.
    """
    mean, std = usual(case, "target/mean"), usual(case, "target/std")
    if mean is None or std is None:
        return Skipped()
    rms = float(np.hypot(mean, std))
    if rms < min_rms or case.level.answers_right:
        return None
    sentence = f"Targets have mean {text(mean)} and deviation {text(std)}; outputs begin near 0."
    numbers = {"target_mean": mean, "target_std": std}
    return Finding(sentence, strength=strength(rms, min_rms, full_strength_at), numbers=numbers)


@Detector("Targets are not the next token", needs=("fact:token_offsets|fact:samples",), family="token_offset")
def tokens_shifted(
    case: Case, *, same_share: float = 0.97, other_share: float = 0.9, min_kinds: int = 8
) -> Detected:
    """A model of sequences is not asked for the next token but for another one of its input.

    The recorder compares the targets of the first batches with the input tokens at the same place and a few
    places around it. Seen where nearly all targets ({same_share:%}) are the token at one such distance, and
    that is not the next one: two places on where labels are shifted by the script and by the model as well,
    the one before where they are shifted the wrong way (of low severity: a task may ask for it). Targets
    that are the token itself are another finding.

    Silent for targets that are no tokens of the input (translation, tags; classes of fewer than {min_kinds}
    kinds are tags, whatever their numbers), for masked language models, whose targets are hidden, and where
    several distances fit (sequences that repeat themselves).
    """
    shares = token_offsets(case)
    if not shares:
        return Skipped("batches of tokens with a target for each")
    offset = only_offset(shares, same_share=same_share, other_share=other_share)
    if offset in (None, 0, 1) or 0 < len(case.task.class_shares) < min_kinds:
        return None
    share = shares[offset]
    if offset > 0:
        kind = f"the input token {offset} places on: labels are shifted twice, by the script and by the model"
    else:
        kind = "the input token one place before: labels are shifted the wrong way"
    return Finding(
        f"{percent(share)} of the targets are {kind}.",
        "silent_defect",
        "high" if offset > 0 else "low",
        numbers={"offset": offset, "share": share},
    )


def _shifted_tokens(last: float, **shares: float) -> Run:
    fact = {"-1": 0.1, "0": 0.1, "1": 0.1, "2": 0.1, "3": 0.1} | {k.strip("_"): v for k, v in shares.items()}
    return run({"loss": decay(60, 3.0, last)}, facts={"token_offsets": fact})


def cases() -> Cases:
    yield from targets_empty.fires(run({"target/ignored_share": [1.0] * 5}))
    facts = {"classes": {"0": 400}, "losses": [{"function": "cross_entropy"}]}
    yield from targets_empty.fires(run({"target/ignored_share": [0.0] * 5}, facts=facts))
    compared = {"function": "cross_entropy", "output_shape": "256x255", "after_layers": ["Div", "Cat"]}
    contrastive = {"classes": {"0": 400}, "losses": [compared]}
    yield from targets_empty.silent(run({"target/ignored_share": [0.0] * 5}, facts=contrastive))
    yield from targets_empty.silent(
        run({"target/ignored_share": [0.8, 0.7, 0.9, 0.85]}),
        run({"target/ignored_share": [0.0] * 5}, facts={"classes": {"0": 400, "1": 90}}),
    )
    yield from target_among_inputs.fires(_places(23))
    yield from target_among_inputs.silent(_places(), _places(23, batches=2))
    yield from future_attended.fires(run({}, facts={"attention": {"maps": 4, "open": 4, "share": 0.48}}))
    yield from future_attended.silent(
        run({}, facts={"attention": {"maps": 4, "open": 0, "share": 0.0}}),
        run({}, facts={"attention": {"maps": 4, "open": 1, "share": 0.002}}),
    )
    yield from targets_equal_inputs.fires(_tokens(0.01, _0=1.0))
    yield from targets_equal_inputs.silent(_tokens(1.5, _0=1.0))
    yield from targets_equal_inputs.silent(_tokens(0.01, _1=1.0))
    yield from targets_equal_inputs.silent(_tokens(0.01, _0=0.98, _2=0.98))
    yield from targets_large.fires(run({"target/mean": [2e5] * 4, "target/std": [8e4] * 4}))
    yield from targets_large.silent(run({"target/mean": [0.0] * 4, "target/std": [1.0] * 4}))
    learned = {"output/explained": [-9.0, 0.2, 0.9, 0.95, 0.95]}
    yield from targets_large.silent(run({"target/mean": [50.0] * 4, "target/std": [8.0] * 4, **learned}))
    yield from tokens_shifted.fires(_shifted_tokens(1.0, _2=1.0))
    yield from tokens_shifted.fires(_shifted_tokens(1.0, **{"-1": 1.0}))
    yield from tokens_shifted.silent(_shifted_tokens(1.0, _1=1.0))
    yield from tokens_shifted.silent(_shifted_tokens(0.01, _0=1.0))
    yield from tokens_shifted.silent(_shifted_tokens(0.01, _0=0.98, _2=0.98))
    yield from tokens_shifted.silent(_shifted_tokens(1.0))
