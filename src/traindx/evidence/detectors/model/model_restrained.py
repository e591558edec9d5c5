"""Something restrains the model: dropout layers that drop much, or terms added to the loss.

A sign, for recorded trainings. Seen when a layer drops at least {dropout_share} of what it gets, or when
backward is called on at least {total_to_loss} times what the loss function gives.

Not seen only where there is nothing of the kind at all: no layer drops anything, no optimizer decays weights,
nothing is added to the loss, and the script speaks of no dropout, penalty, smoothing, mixing or augmentation.
A little of it says nothing either way. Could not look without the script when the model has a forward of its
own, in which functions may drop. Known mistakes: restraints hidden in a library.
"""

import re
from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, facts, number
from traindx.evidence.detectors._number_text import percent, times
from traindx.evidence.detectors._script_words import speaks_of
from traindx.evidence.sampled import sampled
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Anything that restrains the model",
    needs=("fact:models", "fact:optimizers"),
    family="regularisation",
)
_WORDS = re.compile(
    r"drop_?(out|path|block|connect)|stochastic_depth|smoothing|mix_?up|cut_?(mix|out)|augment|transforms|flip"
    r"|crop|jitter|penalt|regulari[sz]|(^|_)l[12]($|_)|(^|_)kl($|_)|max_norm"
)


def detect(case: Case, *, dropout_share: float = 0.4, total_to_loss: float = 1.5) -> Detected:
    dropped, ratio = _dropped(case), sampled(case, "output/backward_ratio")
    if dropped is None:
        return Skipped()
    if dropped >= dropout_share:
        return _finding(f"A layer drops {percent(dropped)} of what it gets.", dropped)
    most = float(ratio.y.max()) if ratio is not None else 1.0
    if most >= total_to_loss and len(case.inside.losses) == 1:
        return _finding(f"Backward is called on up to {times(most)} what the loss function gives.", dropped)
    if dropped > 0 or most > 1.01 or any(_decays(one) for one in case.inside.optimizers):
        return Skipped()
    if case.script is None:
        own_forward = any(model.get("class") != "Sequential" for model in case.inside.models)
        return Skipped("the script") if own_forward else None
    return Skipped() if speaks_of(case.script, _WORDS) else None


def _finding(text: str, dropped: float) -> Finding:
    return Finding(text, numbers={"dropout": dropped})


def _dropped(case: Case) -> float | None:
    """The largest share that any layer drops; None when it was not recorded."""
    told = [model.get("dropout") for model in case.inside.models]
    if not told or any(not isinstance(rates, list | tuple) for rates in told):
        return None
    rates = [one for each in told for one in each or ()]
    return max((float(one) for one in rates if isinstance(one, int | float)), default=0.0)


def _decays(optimizer: Any) -> bool:
    """Whether weights decay; an optimizer that does not say may do anything."""
    groups = facts(optimizer.get("groups"))
    return not groups or any(number(group, "weight_decay") != 0 for group in groups)


def _facts(dropout: list[float], decay: float | None = 0.0, kind: str = "Sequential") -> dict[str, Any]:
    group = {"lr": 0.001} | ({} if decay is None else {"weight_decay": decay})
    model = {"class": kind, "parameters": 900, "dropout": dropout}
    return {"models": [model], "optimizers": [{"class": "Adam", "groups": [group]}], "losses": [{}]}


def fires() -> Runs:
    yield run({}, facts=_facts([0.1, 0.5]))
    yield run({"output/backward_ratio": [1.6, 2.0, 3.0]}, facts=_facts([]))


def silent() -> Runs:
    yield run({}, facts=_facts([]))
    yield run({"output/backward_ratio": [1.0, 1.0, 1.0]}, facts=_facts([]))
    yield run({}, facts=_facts([0.1]))
    yield run({}, facts=_facts([], 0.01))
    yield run({}, facts=_facts([], None))
    yield run({}, facts=_facts([], kind="Net"))
