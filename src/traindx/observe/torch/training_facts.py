"""What is recorded once of a training: its model, optimizers, loss functions, loaders and schedulers."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch

from traindx.core.kinds import loss_kind
from traindx.observe.data.targets import describe_shapes
from traindx.observe.torch import setup_facts
from traindx.observe.torch.graph_structure import depth, end_operations, linear_pairs, residuals, stretched
from traindx.observe.torch.loss_calls import as_given
from traindx.observe.torch.model_facts import model_facts, reach_facts
from traindx.observe.torch.optimizer_state import TrackedOptimizer
from traindx.observe.torch.roots import HandUpdate, optimizer_parameters
from traindx.observe.torch.sample_prints import SampleFingerprints
from traindx.observe.torch.trainers import trainer_settings

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_MOST = 16
_OF_OPTIMIZER = ("lr", "weight_decay", "schedule", "warmup", "warmup_ratio")
# What is of one training, and not of the process.
_OF_TRAINING = (
    *("models", "optimizers", "losses", "loaders", "schedulers", "graph", "reach", "restored"),
    *("classes", "samples", "accumulation", "clipping", "histograms", "tokens", "followers"),
    *("attention", "moved_axes", "softmaxes", "gradients_cleared"),
)
_PHASES_MOST, _PHASES_SAMPLED = 64, 8
_LOADER_SETTINGS = (("batch_size", "batch_size"), ("train_samples", "samples"), ("workers", "workers"))


class TrainingFacts:
    """Gathered as they show themselves, written to `run.json`."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self.world = 1
        self._optimizers: list[dict[str, object]] = []
        self._loaders: dict[int, tuple[weakref.ref[Any], dict[str, object]]] = {}
        self._losses: dict[str, dict[str, object]] = {}
        self._models = 0
        self._settings = {"clip"}
        self._without_graph: weakref.ref[torch.optim.Optimizer] | None = None
        self.phases: list[tuple[dict[str, object], SampleFingerprints | None]] = []

    def _set(self, name: str, value: object) -> None:
        """A setting of this training."""
        self._settings.add(name)
        self.recorder.setting(name, value)

    def restart(self, optimizer: torch.optim.Optimizer) -> None:
        """Another training begins with this optimizer: what is known so far is of the ones before it."""
        watching = self.watching
        self._record_schedulers(but=optimizer)
        watching.steps.accumulation.record()
        self._record_classes()
        facts = self.recorder.take(_OF_TRAINING, self._settings)
        facts |= watching.sampler.whole_facts()
        facts.pop("restored", None)  # perhaps for the training that begins: `Restoring` knows
        phase_count = len(self.phases)
        samples = watching.sampler.samples if phase_count < _PHASES_SAMPLED else None
        self.phases.append((facts if phase_count < _PHASES_MOST else {}, samples))
        self.recorder.fact("phases", [facts for facts, _ in self.phases])
        self.recorder.fact("settings_of_phases", sorted(self._settings))
        self._optimizers, self._losses, self._models = [], {}, 0
        self._loaders = {key: entry for key, entry in self._loaders.items() if entry[0]() is not None}
        if self._loaders:
            self._record_loaders()
        watching.sampler.forget_samples()
        watching.steps.left_gradients.restart()
        watching.sampler.batches.restart()

    def optimizer(self, optimizer: torch.optim.Optimizer, entry: TrackedOptimizer) -> None:
        """An optimizer is about to take its first step."""
        if len(self._optimizers) >= _MOST:
            return
        recorder, names, everyone = self.recorder, self.watching.names, self.watching.constructed.alive()
        self.watching.guard("restoring", self.watching.restoring.first_step, optimizer)
        names.refresh(everyone)
        models = [model_facts(root, names) for root in names.roots[:8]]
        facts = setup_facts.optimizer_facts(optimizer, everyone, names.roots, names) | {"name": entry.name}
        if not self._optimizers:
            for name, value in setup_facts.settings_of(models, facts).items():
                self._set(name, value)
            self.watching.guard("trainers", self._trainer, facts)
            recorder.fact("libraries", setup_facts.library_facts())
            recorder.fact("seed", setup_facts.seed_facts())
            self._world()
            self._graph(optimizer)
            self._shards(optimizer)
            self._scheduler_order()
            self._record_schedulers()  # at the end they may be gone
        self._optimizers.append(facts)
        self._models = max(self._models, len(models))
        recorder.fact("models", models)
        recorder.fact("optimizers", list(self._optimizers))
        missing = facts.get("not_held")
        if isinstance(missing, list) and missing and len(everyone) == 1:
            listing = ", ".join(str(name) for name in missing[:6]) + (" ..." if len(missing) > 6 else "")
            recorder.event(
                "parameters_not_in_optimizer",
                f"trainable but in no optimizer: {listing}",
                {"parameters": missing[:100]},
            )

    def without_optimizer(self, update: HandUpdate) -> None:
        """The first step that no optimizer takes: what can be said without one."""
        names = self.watching.names
        names.refresh([update])
        models = [model_facts(root, names) for root in names.roots[:8]]
        self._models = len(models)
        if models:
            self.recorder.fact("models", models)
        self.recorder.fact("libraries", setup_facts.library_facts())
        self.recorder.fact("seed", setup_facts.seed_facts())
        self._world()

    def _trainer(self, optimizer: dict[str, Any]) -> None:
        """The settings of the trainer that runs the loop; those of an optimizer only where it made it."""
        settings = trainer_settings()
        rates = {group.get("initial_lr", group.get("lr")) for group in optimizer["groups"]}
        made_optimizer = settings.get("lr") in rates
        for name, value in settings.items():
            if made_optimizer or name not in _OF_OPTIMIZER:
                self._set(name, value)

    def _scheduler_order(self) -> None:
        """Before the first optimizer step: a scheduler that has stepped already skips its first value."""
        if self.watching.constructed.resumed():
            return
        alive = [scheduler for ref in self.watching.schedulers.values() if (scheduler := ref()) is not None]
        early = [
            type(scheduler).__name__ for scheduler in alive if (getattr(scheduler, "_step_count", 1) or 1) > 1
        ]
        if early:
            text = f"{', '.join(early)} stepped before the first optimizer step"
            self.recorder.event("scheduler_before_optimizer", text)

    def _shards(self, optimizer: torch.optim.Optimizer) -> None:
        if any(type(parameter).__name__ == "DTensor" for parameter in optimizer_parameters(optimizer)):
            why = "parameters are sharded: norms the script does not compute itself are of each rank's part"
            self.recorder.unseen("norms over all ranks", why)

    def _graph(self, optimizer: torch.optim.Optimizer) -> None:
        """What only the graph of a loss shows of a model: how deep it is, what goes around its layers.

        An optimizer with a closure, as in Lightning, steps before there is any: `graph_in_closure`."""
        grad_fn = self.watching.steps.grad_fn
        self._without_graph = weakref.ref(optimizer) if grad_fn is None else None
        if grad_fn is not None:
            graph_facts = {"depth": depth(grad_fn), "residuals": residuals(grad_fn)}
            graph_facts |= linear_pairs(grad_fn, self.watching.names.parameter_name)
            self.recorder.fact("graph", graph_facts | {"stretched": stretched(grad_fn)})
            if len(self.watching.constructed.alive()) == 1:
                reach = reach_facts(grad_fn, optimizer_parameters(optimizer), self.watching.names)
                if reach is not None:
                    self.recorder.fact("reach", reach)

    @property
    def awaits_graph(self) -> bool:
        return self._without_graph is not None

    def graph_in_closure(self) -> None:
        """The first loss is known by now."""
        optimizer = self._without_graph() if self._without_graph is not None else None
        if optimizer is not None:
            self._graph(optimizer)

    def _world(self) -> None:
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            self.world = distributed.get_world_size()
            self.recorder.world = self.world
            self.recorder.setting("world_size", self.world)
        self.recorder.fact("world_size", self.world)

    def loss(
        self,
        name: str,
        output: torch.Tensor,
        target: torch.Tensor,
        reduction: str | None,
        options: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """A loss function was called for the first time; `reduction` is None for one written by hand."""
        if name in self._losses:
            return
        facts: dict[str, object] = {"function": name, "kind": loss_kind({"function": name})}
        facts |= {"reduction": reduction, **options}
        facts |= describe_shapes(as_given(output), as_given(target))
        self._losses[name] = facts | {"after_layers": end_operations(output)}
        self.recorder.fact("losses", list(self._losses.values()))
        if len(self._losses) == 1:
            self._set("loss_function", name)

    def loader(self, loader: Any) -> None:
        """A loader is iterated."""
        if id(loader) in self._loaders and self._loaders[id(loader)][0]() is loader:
            return
        if len(self._loaders) >= _MOST:
            return
        training = torch.is_grad_enabled() and self.watching.modes.training() is not False
        facts = setup_facts.loader_facts(loader) | {"role": "training" if training else "validation"}
        self._loaders[id(loader)] = (weakref.ref(loader), facts)
        self._record_loaders()

    def _record_loaders(self) -> None:
        """All of them, and the settings of the one that is trained on."""
        loaders = [loader for _, loader in self._loaders.values()]
        self.recorder.fact("loaders", loaders)
        first = next((loader for loader in loaders if loader["role"] == "training"), {})
        for setting, key in _LOADER_SETTINGS:
            if first.get(key) is not None:
                self._set(setting, first[key])

    def end(self) -> None:
        """What only the end shows."""
        recorder, watching = self.recorder, self.watching
        watching.sampler.evaluations.stop()
        never = [] if watching.compiled else watching.constructed.never_stepped()
        if never:
            kinds = ", ".join(type(optimizer).__name__ for optimizer in never[:4])
            recorder.event(
                "optimizer_never_stepped", f"{len(never)} optimizers were made but never stepped: {kinds}"
            )
        if watching.functional and not recorder.step:
            recorder.unseen(
                "steps",
                "training by torch.func calls neither backward nor an optimizer; only its output was kept",
            )
        self._report_unseen()
        self._record_schedulers()
        watching.steps.accumulation.record()
        self._record_classes()
        samples = watching.sampler.samples.facts()
        if samples:
            recorder.fact("samples", samples)
        for name, fact in watching.sampler.whole_facts().items():
            recorder.fact(name, fact)
        if self.phases:
            recorder.fact("phases", [_with_samples(*phase) for phase in self.phases])
            recorder.fact("settings_of_phases", sorted(self._settings))
        recorder.record_overhead()

    def _report_unseen(self) -> None:
        """A program may put its own functions in the place of torch's, and call nothing of ours."""
        watching, entries = self.watching, self.watching.steps.optimizers.entries.values()
        if entries and not any(entry.own_loss for entry in entries):
            self.recorder.unseen("loss", "backward was never called by torch.autograd.backward or grad")
        sampler = watching.sampler
        if sampler.forward and sampler.sample_count and self._models and not sampler.activations.saw_model:
            self.recorder.unseen("activations", "no model was called by torch.nn.Module.__call__")

    def _record_classes(self) -> None:
        classes = self.watching.sampler.batches.classes()
        if classes:
            self.recorder.fact("classes", classes)

    def _record_schedulers(self, but: torch.optim.Optimizer | None = None) -> None:
        """The schedulers there are, `but` those of one optimizer."""
        every = [scheduler for ref in self.watching.schedulers.values() if (scheduler := ref()) is not None]
        alive = [
            scheduler
            for scheduler in every
            if but is None or getattr(scheduler, "optimizer", None) is not but
        ]
        if alive:
            facts = [setup_facts.scheduler_facts(scheduler) for scheduler in alive[:_MOST]]
            self.recorder.fact("schedulers", facts)
            self._set("schedule", facts[-1].get("class"))


def _with_samples(facts: dict[str, object], samples: SampleFingerprints | None) -> dict[str, object]:
    """What a training that ended was fed is only worked out at the very end: it takes a moment."""
    sample_facts = samples.facts() if samples is not None else {}
    return facts | {"samples": sample_facts} if sample_facts else facts
