"""Optimizers that do not step, or step something else."""

import re

from traindx.core.facts import facts, number, word
from traindx.evidence.detector import Case, Cases, Detected, Detector, Event, Finding, Run, Skipped
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import decay, noisy, run

_FOLLOWS = re.compile(r"target|tgt|(?:^|[._])(?:ema|momentum|slow|average|averaged|shadow)", re.IGNORECASE)


@Detector("Optimizer never stepped", needs=("recording",), family="untrained")
def optimizer_never_stepped(case: Case) -> Detected:
    """An optimizer was made and never took a step.

    Seen at the end of a recording: parameters that no other optimizer trains were given to one whose `step`
    was never called. When no optimizer stepped at all nothing was learned.

    Silent about optimizers that were made for a look at them and whose parameters another one trains, while
    a training still runs, and where an exception ended it.
    """
    recorded_events = case.inside.events("optimizer_never_stepped")
    if case.crash is not None:
        return Skipped("a training that no exception ended before its first step")
    if not recorded_events:
        return None if case.inside.optimizers else Skipped("a recording of an optimizer")
    alone = not case.inside.optimizers
    text = "No optimizer ever stepped" if alone else "An optimizer never stepped"
    return Finding(
        f"{text}: {recorded_events[0].text}. What it holds keeps its first values.",
        "silent_defect",
        "high" if alone else "medium",
        case.span[0],
        numbers={"untrained_share": "100 %"} if alone else {},
    )


@Detector(
    "Optimizer of another model",
    needs=("fact:optimizers",),
    family="untrained",
    explains=("no_gradient_at_all", "parameters_without_gradient"),
)
def optimizer_of_other_model(case: Case) -> Detected:
    """The optimizer holds another model than the one that is trained.

    Seen when none of the parameters behind the loss is in the optimizer, and none of those it holds ever had
    a gradient: the model was made anew, copied or replaced after the optimizer had been built. Every step is
    taken and nothing changes.

    Silent when the optimizer's parameters do get gradients (copies in full precision, filled by hand).
    """
    reach = case.inside.fact("reach")
    if len(case.inside.optimizers) != 1 or not reach:
        return Skipped("a recording of a training with a single optimizer")
    leaves, own, outside = (number(reach, key) or 0.0 for key in ("parameters", "held", "outside"))
    unreached = any(number(event.data, "reached") == 0 for event in case.inside.events("no_gradient"))
    if not leaves or own or not outside or not unreached:
        return None
    sentence = (
        f"The loss is computed from {leaves:g} parameters, none of which the optimizer holds; the "
        f"{outside:g} it does hold never had a gradient: it was built for another model."
    )
    return Finding(sentence, "silent_defect", "high", case.span[0], numbers={"untrained_share": "100 %"})


def _run(own: int, reached: int) -> Run:
    reach = {"parameters": 6, "elements": 500, "held": own, "free": ["a"], "free_elements": 9, "outside": 6}
    event = Event("no_gradient", "no gradient reached 0, 2", 4.0, {"layers": ["0"], "reached": reached})
    facts = {"optimizers": [{"class": "SGD"}], "reach": reach}
    return run({"loss": noisy([1.4] * 60, 0.05)}, facts=facts, events=[event])


@Detector("Optimizer state lost", needs=("fact:optimizers",), family="restored_state")
def optimizer_state_lost(case: Case) -> Detected:
    """The optimizer begins again: its state was left in a checkpoint, or is dropped after each step.

    Seen when a file was loaded that holds the state of an optimizer, the model took its weights from it
    whole, and an optimizer with as many parameters then began with an empty state: its moments are lost, and
    mostly the schedule too. Or when the state that an update of optax returns never leaves the step, so that
    each step begins with the same one: momentum and the count of steps do not grow.

    Silent when the state was loaded, when the checkpoint holds none, when the model fits only in part
    (another task), and when the weights are loaded after the last step. Known mistake: a new stage that is
    begun on purpose from a full checkpoint.
    """
    for reset in case.inside.events("optimizer_state_reset"):
        sentence = (
            f"The optimizer begins again at each step: {reset.text}. Momentum and schedule have no effect."
        )
        return Finding(sentence, "silent_defect", "high", reset.step)
    notes = case.inside.events("optimizer_state_not_loaded")
    if not notes:
        return None if case.run.facts.get("restored") else Skipped()
    step = notes[0].step
    sentence = (
        f"At step {text(step or 0)} a training was taken up again without its optimizer: {notes[0].text}."
    )
    return Finding(sentence, "silent_defect", "medium", step, marks=(step,) if step is not None else ())


@Detector("Copy never updated", needs=("fact:followers",), family="copies")
def copy_never_updated(case: Case, *, min_samples: int = 5, min_moved: float = 0.05) -> Detected:
    """A copy of the trained network never follows it.

    Seen when a network that no optimizer holds has the shape of a trained one, began as its copy, is called
    in training, and did not change in any of at least {min_samples} samples while the trained one moved by
    {min_moved:%} or more. A target network or an average that is never updated keeps the targets at those of
    the first weights.

    Only for copies that are called target, average or the like, and in reinforcement learning: a teacher and
    the reference of a preference training stay as they are on purpose.
    """
    for copy in facts(case.run.facts.get("followers")):
        name, moved = word(copy, "name"), number(copy, "source_moved") or 0.0
        samples = number(copy, "samples") or 0.0
        follows = bool(_FOLLOWS.search(name)) or "rl" in case.traits
        if not follows or not copy.get("started_equal") or samples < min_samples or number(copy, "changes"):
            continue
        if moved < min_moved or "preference" in case.traits:
            continue
        return Finding(
            f"{name}, a copy of {word(copy, 'like')}, is the same in all {samples:.0f} samples while the "
            f"weights it copies moved by {percent(moved)}.",
            "silent_defect",
            "high",
            case.span[0],
            numbers={"copy": name},
        )
    return None


def _copy(name: str, **changed: object) -> dict[str, object]:
    facts = {"name": name, "like": "q", "samples": 10, "changes": 0, "equal": 0, "started_equal": True}
    return {"followers": [{**facts, "source_moved": 0.4, **changed}]}


def cases() -> Cases:
    event = Event("optimizer_never_stepped", "1 optimizers were made but never stepped: SGD", None)
    yield from optimizer_never_stepped.fires(
        run({"loss": noisy([1.4] * 60, 0.05)}, events=[event], facts={"version": 2})
    )
    yield from optimizer_never_stepped.silent(
        run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{"class": "SGD"}]}),
        run({"loss": decay(60, 2.0, 0.5)}, facts={"version": 2}),
    )
    yield from optimizer_of_other_model.fires(_run(0, 0))
    yield from optimizer_of_other_model.silent(_run(6, 0), _run(0, 6))
    event = Event(
        "optimizer_state_not_loaded", "Adam starts without state: the loaded file holds one for it", 1.0
    )
    yield from optimizer_state_lost.fires(
        run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"optimizers": [{"class": "Adam"}]})
    )
    event = Event("optimizer_state_reset", "it had counted no step in 9 samples", 1.0)
    yield from optimizer_state_lost.fires(
        run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"optimizers": [{"class": "Adam"}]})
    )
    facts = {"optimizers": [{"class": "Adam"}], "restored": [{"keys": 4, "missing": 0, "unexpected": 0}]}
    yield from optimizer_state_lost.silent(
        run({"loss": decay(60, 2.0, 0.5)}, facts=facts),
        run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{"class": "Adam"}]}),
    )
    yield from copy_never_updated.fires(
        run({"loss": decay(100, 2.0, 1.0)}, facts=_copy("target")),
        run({"loss": decay(100, 2.0, 1.0)}, facts=_copy("agent.q2"), traits=["rl"]),
    )
    yield from copy_never_updated.silent(
        run({"loss": decay(100, 2.0, 1.0)}, facts=_copy("target", changes=3)),
        run({"loss": decay(100, 2.0, 1.0)}, facts=_copy("teacher")),
        run({"loss": decay(100, 2.0, 1.0)}, facts=_copy("target", source_moved=0.001)),
    )
