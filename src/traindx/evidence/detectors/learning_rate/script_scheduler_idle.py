"""A learning rate schedule is made and never stepped: the rate stays as it is.

Seen when the script makes a scheduler of PyTorch for the optimizer it trains with and nothing calls its
`step()`.

In Lightning: `configure_optimizers` makes it and does not return it.

Silent when the scheduler is handed to anything else, and when not every `step()` of the script could be
followed. Known mistake: none yet.
"""

from traindx.evidence.detectors._script import Detector, Finding, Places, Scripts, Skipped, Training, script
from traindx.evidence.detectors._script.words import NO_LOOP, code, where
from traindx.source.edit_pieces import place
from traindx.source.values import ListValue, Value, options

DETECTOR = Detector(title="schedule never stepped", family="script_schedule")
_HARMLESS = frozenset("print len isinstance get_last_lr state_dict load_state_dict torch.save".split())


def detect(training: Training) -> Places:
    if not training.iterations:
        return NO_LOOP
    if not training.followed("step"):
        return Skipped("a way from the script's start to each of its step() calls")
    calls = [e for e in training.trace.events if e.value.name.startswith("torch.optim.lr_scheduler.")]
    if not calls:
        return Skipped("a schedule in the script")
    if training.scheduler_steps:
        return []
    how = "`configure_optimizers` does not return it" if training.managed else "nothing calls its step()"
    stepped = {id(one) for step in training.steps for one in step.optimizers}
    found = []
    for event in calls:
        ours = any(id(one) in stepped for one in options(event.value.argument(0, "optimizer")))
        if ours and event.root is None and not event.handed and not _handed_on(training, event.value):
            text = (
                f"{where(event.spot)}: {code(event.spot)} is made and {how}: the learning rate never changes."
            )
            found.append(Finding(text, "silent_defect", "low", places=(place(event.spot),)))
    return found


def _handed_on(training: Training, schedule: Value) -> bool:
    """Whether something else gets the scheduler: another schedule, an object, a function of a library."""
    for event in training.trace.events:
        arguments = [*event.value.args, *event.value.keywords.values()]
        flat = [one for arg in arguments for one in (arg.items if isinstance(arg, ListValue) else [arg])]
        if event.value.name not in _HARMLESS and any(one is schedule for one in flat):
            return True
    return False


_PLAN = "scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)"


def fires() -> Scripts:
    yield script(after=_PLAN)
    yield script(after=_PLAN, end="print(scheduler.get_last_lr())")


def silent() -> Scripts:
    yield script(after=_PLAN, end="scheduler.step()")
    yield script(after=_PLAN + "\nrun = Runner(model, scheduler)")
    yield script(
        after=_PLAN + "\nwarm = torch.optim.lr_scheduler.ChainedScheduler([scheduler])", end="warm.step()"
    )
    yield script()
