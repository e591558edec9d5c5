"""A checkpoint is loaded by halves: names are passed over, or the optimizer's state is left out.

Seen when `load_state_dict(..., strict=False)` loads into a model that the script trains: names that do
not fit stay at their random values without a word. Also seen when the script saves the optimizer's state
and loads the model's, and never loads the optimizer's.

Both may be meant: signs, which count when a run starts worse than it should. Silent when the script loads
nothing. Known mistake: a new head on old weights.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import code, where
from traindx.source.edit_pieces import place
from traindx.source.execution import CallEvent
from traindx.source.roles import is_optimizer
from traindx.source.values import Const

DETECTOR = Detector(title="state loaded by halves", family="script_state")
_SAVE = "torch.save({'m': model.state_dict(), 'o': optimizer.state_dict()}, 'a.pt')"


def detect(training: Training) -> Places:
    loads = training.trace.methods("load_state_dict")
    if not loads or not training.trace.named("torch.load"):
        return Skipped("a script that loads a checkpoint")
    found = []
    for event in loads:
        strict = event.value.argument(1, "strict")
        if isinstance(strict, Const) and strict.value is False:
            found.append(
                _finding(event, "passes over every name that does not fit: such weights stay random")
            )
    saved = [e for e in training.trace.methods("state_dict") if is_optimizer(e.value.receiver)]
    loaded = [e for e in loads if is_optimizer(e.value.receiver)]
    if saved and not loaded and not found and training.followed("load_state_dict"):
        why = f"restores no state of the optimizer, which line {saved[0].spot.line} saves"
        found.append(_finding(loads[0], why))
    return found[:1]


def _finding(event: CallEvent, why: str) -> Finding:
    text = f"{where(event.spot)}: {code(event.spot)} {why} (line {event.spot.line})."
    return Finding(text, places=(place(event.spot),))


def fires() -> Scripts:
    yield script(setup="model.load_state_dict(torch.load('a.pt'), strict=False)")
    yield script(setup="model.load_state_dict(torch.load('a.pt')['m'])", end=_SAVE)


def silent() -> Scripts:
    yield script(setup="model.load_state_dict(torch.load('a.pt'))")
    yield script(
        setup="c = torch.load('a')\nmodel.load_state_dict(c['m'])",
        after="optimizer.load_state_dict(c['o'])",
        end=_SAVE,
    )
    yield script()
