"""Dropout written in the script leaves next to nothing.

Seen for layers that drop a share of {max_dropout} or more.

A sign. Silent when the number is not known. Known mistake: dropout of whole inputs, as in masked modelling.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.keras_samples import fitted
from traindx.evidence.detectors._script.words import where
from traindx.source.anchors_of_loop import origin
from traindx.source.edit_pieces import place
from traindx.source.values import number, options

DETECTOR = Detector(title="extreme dropout", family="regularisation")
_DROP = "self.drop = nn.Dropout({})"


def detect(training: Training, *, max_dropout: float = 0.85) -> Places:
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


def fires() -> Scripts:
    yield script(init=_DROP.format(0.95))
    yield script(init=_DROP.format("p=0.9"))
    yield fitted('layers.Dense(32, activation="relu"), layers.Dropout(0.95), layers.Dense(3)')


def silent() -> Scripts:
    yield script(init=_DROP.format(0.5))
    yield script(init=_DROP.format("rate"))
    yield fitted('layers.Dense(32, activation="relu"), layers.Dropout(rate=0.5), layers.Dense(3)')
    yield script()
