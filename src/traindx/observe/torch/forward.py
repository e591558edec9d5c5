"""Which results of a forward pass are not finite, followed back from a non-finite loss.

An operation keeps for its backward pass what went in or what came out, so most results are known from the
operation that made them or from those that used them.
"""

from __future__ import annotations

import torch
from torch.autograd.graph import Node

from traindx.observe.clock import monotonic
from traindx.observe.torch import nonfinite_rules
from traindx.observe.torch.finite import Kind, kind
from traindx.observe.torch.graph import Graph, inputs, is_custom, is_leaf, operation, variable
from traindx.observe.torch.operations import HARMLESS, KEEPING, MASKS, PRODUCTS, Scene
from traindx.observe.torch.saved import Saved

Result = tuple[Node, int]


class ForwardSearch:
    """One search from one loss; `late` when it was stopped by the clock."""

    def __init__(self, loss: torch.Tensor, graph: Graph, deadline: float) -> None:
        self.deadline = deadline
        self.late = False
        self.saved = Saved()
        self.saved_tensors: dict[Node, dict[str, torch.Tensor]] = {}
        self.values: dict[Result, torch.Tensor] = {}
        self._kinds: dict[Result, Kind | None] = {}
        self._bad: dict[Result, bool] = {}
        for node in graph.nodes:
            self.late = self.late or monotonic() > deadline
            if self.late:
                break
            self._read(node)
        assert loss.grad_fn is not None
        self.end: Result = (loss.grad_fn, loss.output_nr)
        self.values[self.end] = loss

    def _read(self, node: Node) -> None:
        """A saved tensor knows which operation it is a result of, or is a leaf, or has no gradient."""
        leaf = variable(node) if is_leaf(node) else None
        self.saved_tensors[node] = {"variable": leaf} if leaf is not None else self.saved.read(node)
        for tensor in self.saved_tensors[node].values():
            if tensor.grad_fn is not None:
                self.values.setdefault((tensor.grad_fn, tensor.output_nr), tensor)
        if leaf is not None:
            self.values[node, 0] = leaf

    def kind(self, result: Result) -> Kind | None:
        """What a result holds, or None when nobody kept it."""
        if result not in self._kinds:
            tensor = self.values.get(result)
            self.late = self.late or monotonic() > self.deadline
            self._kinds[result] = None if tensor is None or self.late else kind(tensor)
        return self._kinds[result]

    def sources(self) -> list[Result]:
        """Non-finite results that led to the loss and came from finite ones, as far as can be seen."""
        sources, visited, waiting = [], {self.end}, [self.end]
        while waiting:
            result = waiting.pop()
            bad = [operand for operand in inputs(result[0]) if self.is_bad(operand)]
            unmasked = [operand for operand in bad if not self.is_mask(operand)]
            if not unmasked:
                sources.append(result)
            fresh = [operand for operand in unmasked if operand not in visited]
            visited.update(fresh)
            waiting += fresh
        return sources

    def is_bad(self, result: Result) -> bool:
        """Whether a result is non-finite: seen, or, when nobody kept it, because of what went into it."""
        waiting = [result]
        while waiting:
            at = waiting[-1]
            kind = self.kind(at)
            if at in self._bad:
                waiting.pop()
            elif kind is not None or at[0] not in self.saved_tensors:
                self._bad[at] = kind not in (None, "finite")
                waiting.pop()
            else:
                missing = [operand for operand in inputs(at[0]) if operand not in self._bad]
                if not missing:
                    self._bad[at] = self._turns_bad(at[0])
                waiting += missing
        return self._bad[result]

    def _turns_bad(self, node: Node) -> bool:
        if any(self._bad[operand] for operand in inputs(node)) or self.constant(node):
            return True
        return not self.late and nonfinite_rules.cause(self.scene(node)) is not None

    def scene(self, node: Node, output: Kind | None = None) -> Scene:
        """What a node saved, and what others kept of its operands."""
        saved = dict(self.saved_tensors.get(node, {}))
        operands = node.next_functions if operation(node) not in PRODUCTS else ()
        for name, (source, output_nr) in zip(("self", "other"), operands[:2], strict=False):
            if source is not None and (source, output_nr) in self.values:
                saved.setdefault(name, self.values[source, output_nr])
        return Scene(node, saved, output)

    def is_mask(self, result: Result) -> bool:
        """Whether it holds -inf that was written on purpose, so that who made something of it is to blame."""
        if self._holds(result) != "-inf":
            return False
        maker = result[0]
        while bad_sources := [node for node, output in inputs(maker) if self.is_bad((node, output))]:
            if operation(maker) not in KEEPING:
                return False
            maker = bad_sources[0]
        makers = self.region(maker) if operation(maker) == "LogSoftmax" else [maker]
        return any(operation(node) in MASKS for node in makers)

    def _holds(self, result: Result) -> Kind | None:
        """What a result holds, or what went into an operation that only hands it on."""
        while (kind := self.kind(result)) is None and operation(result[0]) in HARMLESS:
            bad = [operand for operand in inputs(result[0]) if self.is_bad(operand)]
            if not bad:
                return None
            result = bad[0]
        return kind

    def constant(self, node: Node) -> str:
        """The name of an input without gradient that is not finite: data, a target, a mask."""
        # What a custom function keeps may be of its own making; a checkpoint keeps what went in.
        closed = is_custom(node) and operation(node) != "CheckpointFunction"
        if is_leaf(node) or closed or self.late:
            return ""
        for name, tensor in self.saved_tensors[node].items():
            made_inside = name.startswith(("result", "running"))
            if made_inside or tensor.requires_grad or not tensor.is_floating_point():
                continue
            holds = kind(tensor)
            masking = holds == "-inf" and ("mask" in name or operation(node) in MASKS)
            if holds not in (None, "finite") and not masking:
                return name
        return ""

    def region(self, node: Node) -> list[Node]:
        """The operation, and those before it whose results nobody kept: it may have been any of them."""
        region, waiting = {node: None}, [node]
        while waiting:
            for source, output in inputs(waiting.pop()):
                inside = source in self.saved_tensors and not is_leaf(source)
                if inside and source not in region and self.kind((source, output)) is None:
                    region[source] = None
                    waiting.append(source)
        return list(region)
