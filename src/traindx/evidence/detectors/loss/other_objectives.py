"""Losses of variational and adversarial trainings."""

import re

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import percent, text, times, where
from traindx.evidence.sampled import late, odd_objective, sampled
from traindx.testing.sketch import decay, noisy, run

_KL = re.compile(r"(?:^|[^a-z])kl(?:d|_?div(?:ergence)?)?(?![a-z])")
_RECONSTRUCTION = re.compile(r"(?:^|[^a-z])rec(?:on|onst|onstruction)?(?:_?loss|_?err(?:or)?)?(?![a-z])")
_NOT_THE_TERM = re.compile(r"weight|beta|coef|anneal|target|penalty|approx")
_SIDES = {
    "g": re.compile(r"(?:^|[^a-z])(?:g|gen|generator)(?:$|[^a-z])"),
    "d": re.compile(r"(?:^|[^a-z])(?:d|disc|discriminator|critic)(?:$|[^a-z])"),
}


@Detector("KL term gone", needs=("kl|loss/*|kld",), family="kl")
def kl_collapses(
    case: Case,
    *,
    left_share: float = 0.01,
    small_kl: float = 0.05,
    still_learns: float = 0.5,
    min_points: int = 10,
) -> Detected:
    """The KL term of a variational training falls to almost nothing: the decoder ignores the latent.

    Posterior collapse. Seen when the KL term falls below {left_share} of its early level and stays there for
    the last third of the run: the encoder gives the same distribution for every input, and what is generated
    does not depend on it. The loss itself often looks calm. Seen as well when the term is next to nothing
    ({small_kl}) in the last third and what is reconstructed explains nothing of what was given.

    Silent for a KL that starts at nothing and grows (annealing), or comes back; where the reconstruction
    still gets better by {still_learns:%} after the term was gone, which a decoder that sees nothing of the
    input cannot do; in reinforcement and preference learning, where the KL is a distance to a reference
    policy; and with fewer than {min_points} values. Known mistakes: a KL that is logged with its weight
    falls when the weight is lowered on purpose.
    """
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
        if _reconstructs(case, onset, still_learns):
            return None
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


def _reconstructs(case: Case, since: float, share: float) -> bool:
    """Whether the reconstruction term fell by a share after a step."""
    for name in case.names:
        curve = case.curve(name) if _RECONSTRUCTION.search(name.lower()) else None
        if curve is not None and len(curve) and not name.startswith(("val/", "test/")):
            before, after = curve.at(since), curve.after(since)
            if after.size >= 3 and 0 < float(np.median(after[-3:])) <= (1.0 - share) * before:
                return True
    return False


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
    curves = [case.curve(name) for name in names]
    return [curve for curve in curves if curve is not None and len(curve)]


@Detector("Discriminator wins", family="adversaries")
def critic_wins(
    case: Case,
    *,
    critic_loss_gone: float = 0.02,
    generator_growth: float = 3.0,
    critic_loss_small: float = 0.12,
    generator_growth_large: float = 10.0,
    min_points: int = 10,
) -> Detected:
    """The discriminator of a GAN has won: its loss is nothing, the generator's has grown several times.

    A discriminator that is always right gives the generator no direction any more: what it draws does not
    get better, whatever is trained on. Seen when the discriminator's loss lies below {critic_loss_gone} of
    its first level for the last third of the run and the generator's at {generator_growth} times its first
    level or more; or below {critic_loss_small} of it and the generator's at {generator_growth_large} times.
    Good trainings have both around a third and three to five times at most.

    Silent for critics whose loss may be negative (Wasserstein), where a small loss is good; when either side
    is not logged; and with fewer than {min_points} values.
    Known mistakes: hinge losses of a generator that is also given other terms.
    """
    if "gan" not in case.traits:
        return Skipped()
    critics, generators = (_losses(case, side, min_points) for side in ("d", "g"))
    if not critics or not generators:
        return Skipped(f"at least {min_points} values of the losses of generator and discriminator")
    if any(curve.y.min() < 0 for curve in critics):
        return None
    ends = [_ends(curve) for curve in critics]
    if min(first for first, _, _ in ends) <= 0:
        return None
    # All parts of the discriminator's loss (on real and on fake) must be gone.
    remaining = max(worst / first for first, _, worst in ends)
    rises = [(curve, float(curve.y[:3].min()), _ends(curve)[1]) for curve in generators]
    curve, before, now = max(rises, key=lambda rise: rise[2] / rise[1] if rise[1] > 0 else 0.0)
    if before <= 0 or not (
        (remaining <= critic_loss_gone and now >= generator_growth * before)
        or (remaining <= critic_loss_small and now >= generator_growth_large * before)
    ):
        return None
    critic, (first, last, _) = critics[0], ends[0]
    onset = _since(critic, max(remaining, critic_loss_gone) * 2 * first)
    return Finding(
        f"{critic.name} falls from {text(first)} to {text(last)} and stays there from {where(critic, onset)} "
        f"on, while {curve.name} grew {times(now / before)}, from {text(before)} to {text(now)}: the "
        "discriminator is always right and the generator gets no direction.",
        "divergence",
        "medium",
        step=onset,
        end=float(critic.x[-1]),
        series=critic.name,
        numbers={"critic_last": last, "generator_grown": now / before},
        marks=(onset,),
    )


def _losses(case: Case, side: str, points: int) -> list[Curve]:
    """The losses of one side, longest first."""
    curves = []
    for name in case.names:
        plain = name.lower().removeprefix("loss/")
        if name.startswith("loss") and len(case.run.series[name]) >= points and _SIDES[side].search(plain):
            curve = case.curve(name)
            if curve is not None and len(curve) >= points:
                curves.append(curve)
    return sorted(curves, key=lambda curve: -len(curve))


def _ends(curve: Curve) -> tuple[float, float, float]:
    """The highest of the first values, and the middle and the upper end of the last third."""
    last = curve.y[-(len(curve) // 3) :]
    first = float(curve.y[: max(1, min(3, len(curve) // 10))].max())
    return first, float(np.median(last)), float(np.quantile(last, 0.9))


def _since(curve: Curve, level: float) -> float:
    above = np.flatnonzero(curve.y > level)
    at = int(above[-1]) + 1 if above.size else 0
    return float(curve.x[min(at, len(curve) - 1)])


def cases() -> Cases:
    loss = decay(30, 106.0, 99.5, rate=12)
    yield from kl_collapses.fires(
        run({"loss": loss, "kl": decay(30, 0.058, 6e-5, rate=20)}, axis="epoch", traits=("elbo",)),
        run({"loss": loss, "loss/kl": decay(30, 12.0, 0.01, rate=20), "loss/recon": loss}, axis="epoch"),
    )

    unused = {"kl": [3e-3, 1e-3, *[5e-4] * 13], "output/explained": [-0.2, *[-0.02] * 14]}
    yield from kl_collapses.fires(run({**unused, "recon": [16.0] * 15}, traits=("elbo",)))
    scaled = {"kl": [0.01, 0.02, *[0.03] * 13], "output/explained": [-0.2, *[0.9] * 14]}
    yield from kl_collapses.silent(run({"loss": decay(15, 2.0, 0.5), **scaled}, traits=("elbo",)))

    loss = decay(50, 200.0, 100.0)
    yield from kl_collapses.silent(
        run({"loss": loss, "kl": 25.0 - decay(50, 24.0, 0.0)}, traits=("elbo",)),
        run({"loss": loss, "kl": noisy(decay(50, 60.0, 12.0), 0.05)}, traits=("elbo",)),
        run({"loss": loss, "kl": decay(50, 0.1, 1e-5, rate=30), "reward": loss}, traits=("rl",)),
    )
    annealed = [0.0, 0.0, *np.linspace(0.0, 9.0, 48)]
    yield from kl_collapses.silent(run({"loss": loss, "kl": annealed}, traits=("elbo",)))
    wins = {"loss/d": decay(40, 1.4, 0.0, rate=60), "loss/g": 20.0 - decay(40, 19.3, 0.0, rate=20)}
    yield from critic_wins.fires(run(wins, traits=("gan",)))
    nearly = {"loss/d": noisy([1.4, *[0.09] * 60], 0.1), "loss/g": noisy([0.7, *[16.0] * 60], 0.1)}
    yield from critic_wins.fires(run(nearly, traits=("gan",)))
    yield from critic_wins.silent(
        run({"loss/d": noisy([1.3] * 60, 0.1), "loss/g": noisy([0.8] * 60, 0.2)}, traits=("gan",))
    )
    usual = {"loss/d": noisy([1.4, *[0.3] * 60], 0.3), "loss/g": noisy([0.7, *[4.0] * 60], 0.3)}
    yield from critic_wins.silent(
        run(usual, traits=("gan",)),
        run({"loss/d": noisy([0.4] * 60, 0.1), "loss/g": np.linspace(0.7, 4.0, 60)}, traits=("gan",)),
    )
    wasserstein = {"loss/d": np.linspace(-8.0, -0.1, 60), "loss/g": np.linspace(1.0, 9.0, 60)}
    yield from critic_wins.silent(run(wasserstein, traits=("gan",)))
    yield from critic_wins.silent(run({"loss/d": [0.0] * 60, "loss/cls": [1.0] * 60}))
