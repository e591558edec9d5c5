"""The KL term of a variational training falls to almost nothing: the decoder ignores the latent.

Posterior collapse. Seen when the KL term falls below {left_share} of its early level and stays there for the
last third of the run: the encoder gives the same distribution for every input, and what is generated does not
depend on it. The loss itself often looks calm. Seen as well when the term is next to nothing ({small_kl}) in
the last third and what is reconstructed explains nothing of what was given.

Silent for a KL that starts at nothing and grows (annealing), or comes back; in reinforcement and preference
learning, where the KL is a distance to a reference policy; and with fewer than {min_points} values.
Known mistakes: a KL that is logged with its weight falls when the weight is lowered on purpose.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, text, where
from traindx.evidence.sampled import late, odd_objective, sampled
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="KL term gone", needs=("kl|loss/*|kld",), family="kl")
_KL = re.compile(r"(?:^|[^a-z])kl(?:d|_?div(?:ergence)?)?(?![a-z])")
_NOT_THE_TERM = re.compile(r"weight|beta|coef|anneal|target|penalty|approx")


def detect(case: Case, *, left_share: float = 0.01, small_kl: float = 0.05, min_points: int = 10) -> Detected:
    if case.traits & {"rl", "preference"}:
        return Skipped("a variational training: here the KL is a distance to a reference")
    curves = _terms(case)
    long = [curve for curve in curves if len(curve) >= min_points]
    if not long:
        return Skipped(f"at least {min_points} values of the KL term")
    for curve in long:
        count = max(2, len(curve) // 10)
        early, first = float(curve.y[:count].max()), float(curve.y[0])
        last = curve.y[-(len(curve) // 3) :]
        level = float(np.median(last))
        if float(np.quantile(last, 0.9)) < small_kl and _explains_nothing(case):
            return _never_used(curve, level)
        started = first >= 0.2 * early and first > 0
        if (
            not started
            or early < 0.5 * float(curve.y.max())
            or float(np.quantile(last, 0.9)) > left_share * early
        ):
            continue
        above = np.flatnonzero(curve.y > left_share * early)
        onset = float(curve.x[min(int(above[-1]) + 1, len(curve) - 1)])
        return Finding(
            f"The KL term falls from {text(early)} to {text(level)} ({percent(max(level, 0.0) / early)} of "
            f"its early level) and stays there from {where(curve, onset)} on: the latent carries nothing of "
            "the input.",
            "silent_defect",
            "medium",
            step=onset,
            end=float(curve.x[-1]),
            series=curve.name,
            numbers={"term": curve.name, "kl_first": early, "kl_last": level},
            marks=(onset,),
        )
    return None


def _explains_nothing(case: Case, *, share: float = 0.1) -> bool:
    """Whether reconstructions, where they were looked at to the end, are no better than the mean."""
    explained = sampled(case, "output/explained", 4)
    return explained is not None and late(explained) < share and not odd_objective(case)


def _never_used(curve: Curve, level: float) -> Finding:
    return Finding(
        f"The KL term is {text(level)} to the end, and the reconstruction explains nothing of what was "
        "given: the latent carries no information about the input.",
        "silent_defect",
        "medium",
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        numbers={"term": curve.name, "kl_first": float(curve.y[0]), "kl_last": level},
    )


def _terms(case: Case) -> list[Curve]:
    """The KL terms of the training loss."""
    names = [
        name
        for name in case.names
        if not name.startswith(("val/", "test/"))
        and _KL.search(name.lower())
        and not _NOT_THE_TERM.search(name.lower())
    ]
    found = [case.curve(name) for name in names]
    return [curve for curve in found if curve is not None and len(curve)]


def fires() -> Runs:
    loss = decay(30, 106.0, 99.5, rate=12)
    yield run({"loss": loss, "kl": decay(30, 0.058, 6e-5, rate=20)}, axis="epoch", traits=("elbo",))
    yield run({"loss": loss, "loss/kl": decay(30, 12.0, 0.01, rate=20), "loss/recon": loss}, axis="epoch")

    unused = {"kl": [3e-3, 1e-3, *[5e-4] * 13], "output/explained": [-0.2, *[-0.02] * 14]}
    yield run({**unused, "recon": [16.0] * 15}, traits=("elbo",))


def silent() -> Runs:
    scaled = {"kl": [0.01, 0.02, *[0.03] * 13], "output/explained": [-0.2, *[0.9] * 14]}
    yield run({"loss": decay(15, 2.0, 0.5), **scaled}, traits=("elbo",))

    loss = decay(50, 200.0, 100.0)
    yield run({"loss": loss, "kl": 25.0 - decay(50, 24.0, 0.0)}, traits=("elbo",))
    yield run({"loss": loss, "kl": noisy(decay(50, 60.0, 12.0), 0.05)}, traits=("elbo",))
    yield run({"loss": loss, "kl": decay(50, 0.1, 1e-5, rate=30), "reward": loss}, traits=("rl",))
    annealed = [0.0, 0.0, *np.linspace(0.0, 9.0, 48)]
    yield run({"loss": loss, "kl": annealed}, traits=("elbo",))
