"""Weight matrices start with all weights equal, or at zero where nothing can move them.

Equal weights give all units of a layer the same gradient: they stay copies of each other for ever. Seen when
a matrix starts as one number that is not 0; when most matrices of a plain stack start at 0; or when one
starts at 0 and is still exactly 0 at the last look.

Silent about zero-initialised heads, residual branches, gates and LoRA: they leave 0 with the first steps.
Silent about matrices of one input or one output, whose weights may be equal without harm.
Known mistakes: a matrix that is fixed on purpose but left in the optimizer.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Place, Run, Runs, Skipped
from traindx.evidence.detectors._layers import Matrix, matrices, plain_stack, shown
from traindx.testing.sketch import run

DETECTOR = Detector(title="Constant initial weights", needs=("fact:models",), family="init")


def detect(case: Case, *, min_samples: int = 3) -> Detected:
    found = matrices(case)
    if not any(one.gain is not None for one in found):
        return Skipped("the initial weights of the layers")
    several = [one for one in found if one.fan_in > 1 and one.elements > one.fan_in and one.flat]
    constant = [one.name for one in several if not one.zero]
    zeros = [one for one in several if one.zero]
    most = len(zeros) > max(1, len(found) // 2) and (plain_stack(case) or len(zeros) == len(found))
    stuck = [one.name for one in zeros if most or _stays_zero(case, one, min_samples)]
    if not constant and not stuck:
        return None
    named = constant or stuck
    learned = case.harm.learned(share=0.8)
    how = "one and the same number" if constant else "0"
    return Finding(
        text=f"All weights of {shown(named)} start as {how} ({len(named)} of {len(found)} layers): "
        "equal units get equal gradients and stay alike.",
        symptom="silent_defect",
        severity="low" if learned else "high" if constant or case.harm.suffers else "medium",
        step=0.0,
        numbers={"layers": len(named), "layers_all": len(found)},
        places=tuple(Place(layer=name) for name in named[:3]),
    )


def _stays_zero(case: Case, layer: Matrix, looks: int) -> bool:
    norms = case.inside.layers("weight_norm").get(layer.name)
    return norms is not None and len(norms) >= looks and not norms.y.any()


def _constant(value: float, norms: list[float]) -> Run:
    from traindx.evidence.detectors._layers import model

    facts = model([[32, 8], [32, 32], [4, 32]])
    facts["models"][0]["layer_list"][-1]["init"] = {"mean": value, "std": 0.0}
    series = {"weight_norm/4": norms}
    return run({"loss": [1.6] * 30, **series}, facts=facts)


def fires() -> Runs:
    yield _constant(0.05, [1.6, 1.7, 1.8])
    yield _constant(0.0, [0.0] * 4)


def silent() -> Runs:
    from traindx.evidence.detectors._layers import model

    yield _constant(0.0, [0.0, 0.01, 0.05, 0.2])
    yield run({"loss": [1.6] * 30}, facts=model([[32, 8], [4, 32]]))
