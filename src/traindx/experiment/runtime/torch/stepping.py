"""Steps of optimizers: what they step on, and at which rate."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import Optimizer

from traindx.experiment.runtime.rate_groups import Group
from traindx.observe.hooks.bus import RESTORE

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import ChangedTraining


class StepHook:
    """Each optimizer's count of steps and the rates its groups were made with."""

    def __init__(self, training: ChangedTraining) -> None:
        self.training = training
        self.before: list[Callable[..., Any]] = []
        self.rates: list[Callable[..., Any]] = []
        self.gradients: list[Callable[..., Any]] = []
        self.after: list[Callable[..., Any]] = []
        self._made_rates: weakref.WeakKeyDictionary[Optimizer, list[float]] = weakref.WeakKeyDictionary()
        self._counts: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        self._saved: list[tuple[dict[str, Any], Any]] = []
        self._lead: float | None = None
        training.listen("group_added", self._group_added)
        training.listen("step_begins", self._begins)
        training.listen("step_ends", self._ends, RESTORE)

    def _group_added(self, _: None, optimizer: Optimizer, *__: Any, **___: Any) -> None:
        rate = number(optimizer.param_groups[-1].get("lr"))
        self._made_rates.setdefault(optimizer, []).append(0.0 if rate is None else rate)

    def _begins(self, optimizer: Optimizer, args: Any, kwargs: Any) -> tuple[Any, Any] | None:
        """Before a step; with a closure, what acts on gradients acts after each call of it."""
        if self.training.aside or torch.compiler.is_compiling():
            return None
        for call in self.before:
            call(optimizer)
        self._set_rates(optimizer)
        closure = args[1] if len(args) > 1 else kwargs.get("closure")
        if not callable(closure):
            self._have_gradients(optimizer)
            return None
        if not self.gradients:
            return None

        def computed(*closure_args: Any, **closure_kwargs: Any) -> Any:
            loss = closure(*closure_args, **closure_kwargs)
            self._have_gradients(optimizer)
            return loss

        if len(args) > 1:
            return (args[0], computed, *args[2:]), kwargs
        return args, {**kwargs, "closure": computed}

    def _ends(self, optimizer: Optimizer, *_: Any) -> None:
        """After a step and after its recording: the script finds its own rates again."""
        if self.training.aside or torch.compiler.is_compiling():
            return
        for group, rate in self._saved:
            group["lr"] = rate
        self._saved = []
        self._counts[optimizer] = self._counts.get(optimizer, 0) + 1
        for call in self.after:
            call(optimizer)

    def _have_gradients(self, optimizer: Optimizer) -> None:
        for call in self.gradients:
            call(optimizer)

    def _set_rates(self, optimizer: Optimizer) -> None:
        if not self.rates:
            return
        made_rates = self._made_rates.get(optimizer, [])
        step = self._counts.get(optimizer, 0)
        for index, settings in enumerate(optimizer.param_groups):
            lr = settings.get("lr")
            script = number(lr)
            if script is None:
                continue
            base = _base(settings, made_rates[index] if index < len(made_rates) else script)
            if self._lead is None:
                self._lead = base
            share = base / self._lead if self._lead else 1.0
            rate = script
            for call in self.rates:
                rate = call(Group(step, index, base, share, script, type(optimizer).__name__), rate)
            if rate != script:
                self._saved.append((settings, lr))
                settings["lr"] = torch.full_like(lr, rate) if isinstance(lr, torch.Tensor) else rate


def number(rate: object) -> float | None:
    """A rate is a number, or a tensor of one."""
    if isinstance(rate, torch.Tensor):
        return float(rate) if rate.numel() == 1 else None
    return float(rate) if isinstance(rate, int | float) else None


def _base(settings: dict[str, Any], made_rate: float) -> float:
    """The base rate of a group: its peak where a schedule names one."""
    for key in ("max_lr", "initial_lr"):
        peak = number(settings.get(key))
        if peak:
            return peak
    return made_rate
