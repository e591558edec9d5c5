"""Single layers in the script."""

from collections.abc import Mapping
from math import prod
from typing import Any

from traindx.core.facts import sizes
from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped, facts
from traindx.evidence.detectors._script import Places, Training, script
from traindx.evidence.detectors._script.jax_orders import softmax_over_batch
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import code, where
from traindx.source.anchors_of_loop import origin
from traindx.source.edit_pieces import place
from traindx.source.flow import activation_spot
from traindx.source.roles import operation
from traindx.source.script import parse_script
from traindx.source.values import Made, Spot, number, options
from traindx.testing.sketch import run

_DROP = "self.drop = nn.Dropout({})"


@Detector("extreme dropout", family="regularisation")
def script_dropout_high(training: Training, *, max_dropout: float = 0.85) -> Places:
    """Dropout written in the script leaves next to nothing.

    Seen for layers that drop a share of {max_dropout} or more.

    A sign. Silent when the number is not known. Known mistake: dropout of whole inputs, as in masked
    modelling.
    """
    names = ("torch.nn.Dropout", "keras.layers.Dropout", "keras.layers.SpatialDropout")
    layers = [e.value for e in training.trace.calls if e.value.name.startswith(names)]
    ways = [way for layer in layers for way in options(layer.argument(0, "p", "rate"))]
    shares = [(share, spot) for way in ways if (share := number(way)) is not None and (spot := origin(way))]
    if not shares:
        return Skipped("a dropout layer whose share the script shows")
    findings: dict[int, Finding] = {}
    for share, spot in shares:
        if share >= max_dropout:
            text = f"{where(spot)}: dropout of {share:g} leaves {1 - share:.2g} of each layer."
            findings.setdefault(id(spot.node), Finding(text, None, "low", places=(place(spot),)))
    return [*findings.values()]


@Detector("softmax over the batch", family="script_activation")
def script_softmax_dim(training: Training) -> Places:
    """Softmax runs over the batch instead of over the classes.

    Seen when what reaches a loss was made by softmax or log_softmax with `dim=0`: the probabilities of one
    sample do not sum to one, those of a batch do. In JAX: with `axis=0`, where the class of each sample is
    picked along axis 1 afterwards.

    Silent when reshaping stands in between, or the value is not a loss's input. Known mistake: a loss over
    the batch on purpose (contrastive losses take logits, not probabilities).
    """
    written = [_finding(*pair) for pair in softmax_over_batch(training.script)]
    if written or not training.losses:
        return written or Skipped("a loss of PyTorch")
    findings: dict[int, Finding] = {}
    for loss in (x for x in training.losses if x.kind in ("nll_loss", "cross_entropy", "mse_loss", "kl_div")):
        for way in options(loss.given):
            if isinstance(way, Made) and operation(way) in ("softmax", "log_softmax") and _dim(way) == 0:
                spot = activation_spot(way) or loss.event.spot
                findings.setdefault(id(spot.node), _finding(spot, loss.event.spot))
    return [*findings.values()]


def _dim(call: Made) -> float | None:
    """The dimension that is normalised."""
    layer = call.receiver
    if call.kind == "apply" and isinstance(layer, Made):
        return number(layer.argument(0, "dim"))
    return number(call.argument(0 if call.kind == "method" else 1, "dim"))


def _finding(spot: Spot, loss: Spot) -> Finding:
    text = (
        f"{where(spot)}: {code(spot)} normalises over the batch, dimension 0, and the loss of line "
        f"{loss.line} takes it for probabilities of classes."
    )
    return Finding(text, "silent_defect", "high", places=(place(spot), place(loss)))


_JAX = """
import jax
import jax.numpy as jnp
def loss(p, x, y):
    logp = jax.nn.log_softmax(x @ p, axis={axis})
    return -jnp.mean(jnp.take_along_axis(logp, y[:, None], axis=1))
"""


@Detector("Shapes stretched at the loss", needs=("fact:losses|fact:graph",), family="broadcast")
def shapes_broadcast(case: Case) -> Detected:
    """Output and target have different shapes, and the loss compares every output with every target.

    Seen when the table that both are stretched to is larger than either: (32, 1) against (32,) becomes (32,
    32). In losses written by hand it is seen in the graph: outputs of N samples minus data become N by N.

    Silent when one side is only repeated (a single label for all, weights for all rows), for batches of one,
    and where both sides have gradients: losses that compare samples with each other stretch on purpose.
    Known mistakes: a hand-written loss that compares each output with every target on purpose.
    """
    for loss in case.inside.losses:
        shapes = [str(loss.get(key, "")) for key in ("output_shape", "target_shape", "broadcast_shape")]
        sizes = [_elements(shape) for shape in shapes]
        if loss.get("broadcasts") is True and 0 < max(sizes[:2]) < sizes[2]:
            output, target, table = (shape.replace("x", ", ") for shape in shapes)
            return _stretch_finding(str(loss.get("function", "the loss")), output, target, table)
    for stretch in facts(case.inside.fact("graph").get("stretched")):
        source, table = (str(stretch.get(key, "")).replace("x", ", ") for key in ("from", "to"))
        if source and table:
            return _stretch_finding("the loss", source, "", table)
    return None if case.inside.losses or "stretched" in case.inside.fact("graph") else Skipped()


def _stretch_finding(function: str, output: str, target: str, table: str) -> Finding:
    phrase = f" and targets ({target})" if target else " and data of another shape"
    sentence = (
        f"Outputs ({output}){phrase} are stretched to ({table}) in {function}: every output is compared "
        "with every target, and the best answer is the mean."
    )
    numbers = {"output_shape": output, "target_shape": target, "broadcast_shape": table}
    return Finding(sentence, "silent_defect", "high", numbers=numbers)


def _elements(shape: str) -> int:
    return prod(sizes(shape)) if sizes(shape) else 0


def _loss(output: str, target: str, table: str) -> dict[str, Any]:
    loss: Mapping[str, Any] = {"function": "mse_loss", "reduction": "mean", "broadcasts": bool(table)}
    return {**loss, "output_shape": output, "target_shape": target, "broadcast_shape": table}


def cases() -> Cases:
    yield from script_dropout_high.fires(
        script(init=_DROP.format(0.95)),
        script(init=_DROP.format("p=0.9")),
        fitted('layers.Dense(32, activation="relu"), layers.Dropout(0.95), layers.Dense(3)'),
    )
    yield from script_dropout_high.silent(
        script(init=_DROP.format(0.5)),
        script(init=_DROP.format("rate")),
        fitted('layers.Dense(32, activation="relu"), layers.Dropout(rate=0.5), layers.Dense(3)'),
        script(),
    )
    yield from script_softmax_dim.fires(
        parse_script(_JAX.format(axis=0)),
        script(
            setup="criterion = nn.NLLLoss()",
            forward="return F.log_softmax(self.second(self.first(x)), dim=0)",
        ),
    )
    yield from script_softmax_dim.silent(
        parse_script(_JAX.format(axis=-1)),
        script(
            setup="criterion = nn.NLLLoss()",
            forward="return F.log_softmax(self.second(self.first(x)), dim=1)",
        ),
        script(),
    )
    yield from shapes_broadcast.fires(
        run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "32", "32x32")]})
    )
    stretched = [{"operation": "Sub", "from": "64x1", "to": "64x64"}]
    yield from shapes_broadcast.fires(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "stretched": stretched}})
    )
    yield from shapes_broadcast.silent(
        run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "32x1", "")]})
    )
    yield from shapes_broadcast.silent(
        run({"loss": [2.0, 1.0]}, facts={"losses": [_loss("32x1", "1", "32x1")]})
    )
    yield from shapes_broadcast.silent(
        run({"loss": [2.0, 1.0]}, facts={"graph": {"depth": 3, "stretched": []}})
    )
