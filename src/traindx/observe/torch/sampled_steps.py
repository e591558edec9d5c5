"""A step that is sampled in full, from its forward pass to what the optimizer changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.autograd.graph import Node

from traindx.core.kinds import loss_kind
from traindx.observe.clock import monotonic, perf_counter
from traindx.observe.data import batches
from traindx.observe.data.answers import answer_statistics
from traindx.observe.data.targets import target_statistics
from traindx.observe.data.token_entropy import TokenEntropy
from traindx.observe.early_steps import EarlySteps
from traindx.observe.torch.activation_probe import ActivationProbe
from traindx.observe.torch.followers import Followers
from traindx.observe.torch.graph import Graph, walk
from traindx.observe.torch.histograms import Histograms
from traindx.observe.torch.layer_probe import LayerProbe
from traindx.observe.torch.lookahead import lookahead
from traindx.observe.torch.moved_axes import moved_axes
from traindx.observe.torch.output_statistics import Answers
from traindx.observe.torch.sample_prints import SampleFingerprints
from traindx.observe.torch.softmax_axes import softmax_axes
from traindx.observe.torch.validation_inputs import Evaluations
from traindx.observe.untrained import SAMPLES_NEEDED, UntrainedReport

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

# A number of a recording is exact up to here.
_PRINTS = 2**48
_WALK_SECONDS = 0.25


class StepSampler:
    """Takes a sample when the budget and the size of the recording allow one."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self.layers = LayerProbe(watching.names)
        self.activations = ActivationProbe(watching.names)
        self.histograms = Histograms(self.activations)
        self.batches = batches.Batches()
        self.samples = SampleFingerprints()
        self.tokens = TokenEntropy()
        self.followers = Followers(watching.names)
        self.answers = Answers(watching, self.batches)
        self.evaluations = Evaluations(watching)
        self.sampling = False
        self.forward = True
        self.own_seconds = 0.0
        self._groups: dict[str, dict[str, object]] = {}
        self.sample_count = 0
        self._untrained = UntrainedReport(watching.recorder)
        self._early = EarlySteps()
        self._target: torch.Tensor | None = None
        # A sample of a step by hand, whose update shows only when the next one begins.
        self._pending_groups: dict[str, dict[str, object]] | None = None

    def plan(self, coming: int) -> None:
        """Decide about the step that begins now."""
        recorder = self.recorder
        early = self._early.due(coming)
        due = early or (recorder.budget.samples.can_pay() and recorder.may_sample())
        self.sampling = recorder.internals and due
        if not self.sampling:
            return
        self._groups, self.own_seconds, self._target = {}, 0.0, None
        if self.forward:
            self.watching.guard("activations", self.activations.arm)

    def before(self, optimizer: torch.optim.Optimizer, closure: bool) -> None:
        began = perf_counter()
        self.watching.guard("layers", self.layers.before, optimizer, not closure)
        self.own_seconds += perf_counter() - began

    def gradient_norm(self, optimizer: torch.optim.Optimizer) -> torch.Tensor | None:
        """Of all gradients, from the norms that this sample has read already."""
        return None if "layers" in self.recorder.off else self.layers.gradient_norm(optimizer)

    def after(self, optimizer: torch.optim.Optimizer, closure: bool) -> None:
        began = perf_counter()
        self.watching.guard("layers", self.layers.after, optimizer, closure)
        self.own_seconds += perf_counter() - began

    def abandon(self) -> None:
        """The step will not end as it began: a scaler skipped it."""
        self.layers.forget()
        self.finish_forward()
        self.sampling = False

    def forget_samples(self) -> None:
        """Another training begins: what this one is judged on, that one may have learned from."""
        self.samples = SampleFingerprints()
        self.tokens = TokenEntropy()
        self.followers = Followers(self.watching.names)

    def whole_facts(self) -> dict[str, object]:
        """Facts that need all samples of the training."""
        facts = {"tokens": self.tokens.facts(), "followers": self.followers.record()}
        return {name: fact for name, fact in facts.items() if fact} | self.samples.sequence_facts()

    def saw_loss(self, name: str, output: torch.Tensor, target: torch.Tensor) -> None:
        """What reached a loss function in this step: the first gives the names, others bear their own."""
        of = "" if "target" not in self._groups else f"@{name}"
        if f"target{of}" in self._groups:
            return
        if of:
            statistics = target_statistics(target)
            self._groups[f"target{of}"] = {k: v for k, v in statistics.items() if not isinstance(v, str)}
        else:
            self._groups["target"] = dict(self.batches.targets(target))
            self._target = target.detach()
        if output.is_floating_point():
            numbers = answer_statistics(loss_kind({"function": name}), output.detach(), target)
            self._groups[f"output{of}"] = {**batches.input_statistics(output.detach()), **numbers}

    def read_graph(self, grad_fn: Node | None) -> None:
        """Before the first backward: views that move an axis, axes of softmaxes, attention to the future."""
        if self.sample_count or grad_fn is None:
            return
        graph = walk(grad_fn, monotonic() + _WALK_SECONDS)
        given = self.activations.given_shape()
        self.recorder.fact("moved_axes", moved_axes(graph, self.watching.names.layer_of, given))
        self.watching.guard("softmaxes", self._read_softmaxes, graph)
        attention = lookahead(graph, self._target) if self._target is not None else None
        if attention is not None:
            self.recorder.fact("attention", attention)

    def _read_softmaxes(self, graph: Graph) -> None:
        def layer_of(tensor: torch.Tensor) -> str:
            if not names.roots:
                names.refresh(self.watching.constructed.alive())
            return names.layer_of(tensor)

        names = self.watching.names
        self.recorder.fact("softmaxes", softmax_axes(graph, layer_of))

    def saw_share(self, ratio: float) -> None:
        """How many times what the loss functions gave backward was called on; -1 when the sign is turned."""
        if "output" in self._groups:
            self._groups["output"]["backward_ratio"] = ratio

    def finish_forward(self) -> None:
        self.activations.disarm()

    def done(self, seconds: float) -> None:
        """The step ended after so many seconds: everything seen of it becomes one line."""
        began = perf_counter()
        self.finish_forward()
        groups = self._groups
        later = self.watching.steps.by_hand.awaits_update
        if not later:
            self.watching.guard("layers", self._collect_layers, groups)
        if self.forward:
            self.watching.guard("activations", self._collect_activations, groups)
        if later:
            self._pending_groups = groups
        elif groups:
            self.recorder.sample(groups)
        self.watching.guard("followers", self._sample_followers)
        self.sample_count += 1
        self.sampling = False
        self.own_seconds += perf_counter() - began
        self.recorder.budget.sampled(self.own_seconds, seconds + perf_counter() - began)
        if self.sample_count == SAMPLES_NEEDED or self.sample_count % 16 == 0:
            self.watching.guard("layers", self.report_untrained)

    def write_held(self) -> None:
        """The update of a step by hand was seen: what its sample holds is complete."""
        groups, self._pending_groups = self._pending_groups, None
        if groups is not None:
            self.watching.guard("layers", self._collect_layers, groups)
            self.recorder.sample(groups)

    def drop_held(self) -> None:
        """Discard a sample: what was counted as a step was none."""
        self._pending_groups = None

    def _sample_followers(self) -> None:
        self.followers.sample(self.watching.constructed.alive(), self.activations.gradient_free)

    def _collect_layers(self, groups: dict[str, dict[str, object]]) -> None:
        statistics = self.layers.collect()
        if statistics:
            self.recorder.names("layer", self.layers.names)
            groups["layer"] = dict(statistics)

    def _collect_activations(self, groups: dict[str, dict[str, object]]) -> None:
        probe = self.activations
        names, statistics = probe.collect()
        if names:
            self.recorder.names("activation", names)
            groups["activation"] = dict(statistics)
            self._record_histograms(self.histograms.sampled(self.recorder.step))
        if probe.root_input is not None:
            groups["input"] = dict(self.batches.input(probe.root_input, self.recorder.step))
            if self.watching.facts.world > 1:
                groups["input"]["fingerprint"] = self.batches.last_print % _PRINTS
            self.watching.guard("samples", self.samples.trained, probe.root_input, self._target)
            if self._target is not None:
                self.watching.guard("tokens", self.tokens.add, probe.root_input, self._target)
        self._target = None
        self.watching.modes.sampled(probe.eval_modules, probe.autocast)

    def record_last_histograms(self) -> None:
        self._record_histograms(self.histograms.end())

    def _record_histograms(self, histograms: list[dict[str, object]] | None) -> None:
        if histograms:
            self.recorder.fact("histograms", histograms)

    def report_untrained(self) -> None:
        """Parameters that got no gradient in any sample so far, once for each set."""
        if self.sample_count >= SAMPLES_NEEDED:
            self._untrained.report(
                self.layers.without_gradient(),
                self.layers.cut_off(),
                reached=self.layers.reached(),
                samples=self.sample_count,
            )
