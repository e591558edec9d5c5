"""What the inputs say of the targets."""

from typing import Any

from traindx.core.kinds import BY_CLASS, loss_kind
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, number
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors._simple_predictors import hidden_by, model_of, uninformative, validated
from traindx.evidence.detectors._token_offsets import token_offsets
from traindx.evidence.sampled import odd_objective, one_target_each, part
from traindx.testing.sketch import decay, run


@Detector("One feature gives the target away", needs=("fact:samples",), family="telling_feature")
def feature_tells_all(
    case: Case,
    *,
    score_alone: float = 0.97,
    certain_score: float = 0.985,
    error_ratio: float = 6.0,
    min_score_of_others: float = 0.08,
    min_data_samples: int = 300,
) -> Detected:
    """One feature alone gives the target away.

    Each feature is looked at by itself: how well do the samples beside one in its order tell that one's
    target? Seen when one feature alone tells it almost perfectly ({score_alone}), while all others together
    tell a good part of it and are wrong {error_ratio} as often. Such a feature is mostly made from the
    target, or after it.

    Silent where the other features tell nothing (the task is then that feature), under 4 features, above 64,
    and under {min_data_samples} samples. Low unless the feature is as good as perfect. Known mistakes: a
    task that one honest measurement really decides.
    """
    relation = part(case.inside.fact("samples"), "relation")
    best, joint = number(relation, "alone"), number(relation, "without")
    size, chance, feature = (number(relation, key) for key in ("samples", "by_chance", "feature"))
    if best is None or joint is None or size is None or size < min_data_samples or odd_objective(case):
        return Skipped(f"at least {min_data_samples} samples of 4 to 64 features, with one target each")
    if not one_target_each(case) or chance is None:
        return Skipped()
    lacking = 1 - joint
    above = max(min_score_of_others, 4 * (number(relation, "spread") or 0.0))
    if best < score_alone or lacking < error_ratio * (1 - best) or lacking < 0.05 or joint - chance < above:
        return None
    sure = best >= certain_score
    return Finding(
        f"One feature alone (number {round(feature or 0)} of those that vary) predicts {percent(best)} of "
        f"the targets; all others together {percent(joint)}: it may hold the answer.",
        symptom="silent_defect",
        severity="medium" if sure else "low",
        numbers={"alone": best, "without": joint},
    )


def _facts(alone: float, without: float, samples: int = 800) -> dict[str, Any]:
    relation = {"alone": alone, "without": without, "feature": 3.0, "by_chance": 0.5, "told": alone}
    return {"samples": {"taken": 900, "relation": {**relation, "samples": samples, "z": 20.0, "classes": 2}}}


@Detector("Inputs do not predict the targets", needs=("fact:samples",), family="label_sense")
def labels_unrelated(
    case: Case,
    *,
    z_score: float = 2.5,
    max_linear_z: float = 3.0,
    max_gain: float = 0.06,
    min_data_samples: int = 150,
    max_chance_level: float = 0.8,
    validation_margin: float = 0.15,
) -> Detected:
    """Nothing in the inputs predicts the targets: simple predictors do no better than on shuffled targets.

    The recorder lets a ridge regression, a vote of twelve neighbours and products of two features tell the
    target of each of a few hundred samples from the others. Seen when none stands out from the same on
    shuffled targets, with {min_data_samples} samples and more. A sign, and half as strong where such
    predictors may well miss what a network finds: convolutions, recurrence or attention, inputs of whole
    numbers (bits, one-hot codes), inputs of which only a part was kept.

    Could not look where failing says nothing: inputs that are ids (integers, or looked up in an embedding),
    samples of several inputs, and one class with {max_chance_level:%} of the targets. Silent when validation
    accuracy is well above chance. Known mistakes: targets by a rule of three and more features at once, like
    parity.
    """
    relation = part(case.inside.fact("samples"), "relation")
    stands_out, size = number(relation, "z"), number(relation, "samples")
    score, chance = number(relation, "told"), number(relation, "by_chance")
    if stands_out is None or size is None or size < min_data_samples or score is None or chance is None:
        return Skipped(f"at least {min_data_samples} samples with one target each")
    if odd_objective(case) or not one_target_each(case):
        return Skipped()
    agreement = abs(number(relation, "linked") or 0.0)
    if stands_out > z_score or score - chance > max_gain or agreement > max_linear_z:
        return None
    if (validated(case) or 0.0) >= chance + validation_margin:
        return None
    if (nothing := uninformative(case)) is not None:
        return nothing
    if number(relation, "classes") and chance >= max_chance_level:
        return Skipped("more targets of the rarer classes")
    weak = hidden_by(case)
    sentence = (
        f"From {size:g} samples, a straight line and a vote of neighbours predict {percent(max(0.0, score))} "
        f"of the targets; of shuffled targets {percent(max(0.0, chance))}"
        + (f". {weak} may hide it from them." if weak else ".")
    )
    return Finding(sentence, strength=0.5 if weak else 1.0, numbers={"told": score, "by_chance": chance})


def _facts_labels_unrelated(
    score: float, z: float, samples: int = 500, *, chance: float = 0.2, linked: float = 0.5, **inputs: Any
) -> dict[str, Any]:
    relation = {"told": score, "by_chance": chance, "spread": 0.02, "z": z, "classes": 5, "samples": samples}
    fact = {"relation": {**relation, "linked": linked}, "input": inputs}
    return {"samples": {"taken": 900, "features": 40, **fact}}


@Detector("Loss below what the past allows", needs=("fact:tokens",), family="future")
def loss_below_past(
    case: Case,
    val_loss: Curve,
    *,
    share: float = 0.15,
    ahead_share: float = 0.95,
    min_open: float = 0.3,
    min_targets: int = 2000,
    targets_per_context: float = 8.0,
) -> Detected:
    """The validation loss is lower than what comes before a token can explain.

    Seen when the model predicts the next token ({ahead_share:%} of the targets are the input's next tokens),
    and its validation loss is under {share:%} of what the two tokens before leave open. Text, music and logs
    keep a good part of that however good the model is: the answer is visible, mostly because attention has
    no causal mask, a convolution looks ahead, or a recurrent layer reads in both directions.

    Could not look without a validation loss: a training loss falls that low by memorising, too. Silent where
    the two tokens before decide nearly everything (under {min_open} nats are open), and with under
    {min_targets} sampled targets. Known mistake: sequences that repeat what stands far before.
    """
    tokens = case.inside.fact("tokens")
    ahead, open_nats = token_offsets(case).get(1), number(tokens, "given_two")
    count, contexts = number(tokens, "targets") or 0.0, number(tokens, "contexts") or 0.0
    if ahead is None or open_nats is None or count < max(min_targets, targets_per_context * contexts):
        return Skipped("more sampled tokens")
    losses = case.inside.losses
    if not losses or loss_kind(losses[0]) not in BY_CLASS or losses[0].get("reduction") != "mean":
        return Skipped("a cross-entropy per token")
    if ahead < ahead_share or open_nats < min_open or not val_loss.tail < share * open_nats:
        return None
    return Finding(
        f"The validation loss ends at {text(val_loss.tail)} nats for each token; given the two before it, "
        f"{text(open_nats)} are open ({count:,.0f} sampled targets).",
        "silent_defect",
        "high",
        float(val_loss.x[-1]),
        numbers={"open_nats": open_nats, "val_last": val_loss.tail},
    )


def _facts_loss_below_past(ahead: float) -> dict[str, object]:
    tokens = {"targets": 5000, "entropy": 2.5, "given_two": 0.73, "contexts": 60}
    return {
        "tokens": tokens,
        "token_offsets": {"0": 0.1, "1": ahead},
        "losses": [{"function": "cross_entropy", "reduction": "mean"}],
    }


def cases() -> Cases:
    yield from feature_tells_all.fires(run({}, facts=_facts(0.998, 0.83)))
    yield from feature_tells_all.silent(run({}, facts=_facts(0.998, 0.51)))
    yield from feature_tells_all.silent(run({}, facts=_facts(0.99, 0.97)))
    yield from feature_tells_all.silent(run({}, facts=_facts(0.86, 0.75)))
    yield from feature_tells_all.silent(run({}, facts=_facts(0.998, 0.83, samples=100)))
    real: dict[str, Any] = {"dtype": "float32", "elements": 40, "whole": False, "beside": 0}
    yield from labels_unrelated.fires(
        run({}, facts=_facts_labels_unrelated(0.21, 0.5)),
        run({}, facts={**_facts_labels_unrelated(0.21, 0.5, **real), **model_of("Linear")}),
        run({}, facts={**_facts_labels_unrelated(0.21, 0.5, **real), **model_of("Conv2d")}),
        run({}, facts=_facts_labels_unrelated(0.21, 0.5, **{**real, "elements": 500})),
        run({"val/accuracy": [0.18, 0.22, 0.24, 0.21]}, facts=_facts_labels_unrelated(0.21, 0.5, **real)),
    )
    yield from labels_unrelated.silent(
        run({}, facts=_facts_labels_unrelated(0.9, 30)),
        run({}, facts=_facts_labels_unrelated(0.3, 5)),
        run({}, facts=_facts_labels_unrelated(0.2, 0.1, samples=70)),
        run({}, facts=_facts_labels_unrelated(0.21, 0.5, linked=9.0)),
        run({}, facts=_facts_labels_unrelated(0.1, -3.1, linked=-6.0)),
        run({}, facts=_facts_labels_unrelated(0.21, 0.5, dtype="int64", whole=True)),
        run(
            {},
            facts={
                **_facts_labels_unrelated(0.21, 0.5),
                **model_of("Embedding", embeddings=[{"name": "0", "size": 50}]),
            },
        ),
        run({}, facts=_facts_labels_unrelated(0.21, 0.5, dtype="float32", beside=1)),
        run({}, facts=_facts_labels_unrelated(0.97, 0.0, chance=0.97, dtype="float32")),
        run(
            {"val/accuracy": [0.2, 0.4, 0.5, 0.55]}, facts=_facts_labels_unrelated(0.21, 0.5, dtype="float32")
        ),
    )
    yield from loss_below_past.fires(
        run(
            {"loss": decay(100, 3.0, 0.03), "val/loss": decay(20, 3.0, 0.03)},
            facts=_facts_loss_below_past(1.0),
        )
    )
    yield from loss_below_past.silent(
        run(
            {"loss": decay(100, 3.0, 0.7), "val/loss": decay(20, 3.0, 0.7)}, facts=_facts_loss_below_past(1.0)
        ),
        run(
            {"loss": decay(100, 3.0, 0.03), "val/loss": decay(20, 3.0, 0.03)},
            facts=_facts_loss_below_past(0.1),
        ),
        run(
            {"loss": decay(100, 3.0, 0.03), "val/loss": decay(20, 3.0, 1.2)},
            facts=_facts_loss_below_past(1.0),
        ),
    )
