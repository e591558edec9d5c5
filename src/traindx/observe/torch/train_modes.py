"""Training and eval mode, and autocast, as the model runs."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from torch import nn

from traindx.observe.torch.kinds import has_modes
from traindx.observe.torch.roots import is_trained_by

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching


_TOLD = 20


class TrainingMode:
    """The mode the model trains in, recorded when it changes."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self._mode: bool | None = None
        self.root: weakref.ref[nn.Module] | None = None
        self._version = -1
        self._in_eval: tuple[str, ...] = ()
        self._evaluated = 0
        self._passing = False
        self.rested = False

    def training(self) -> bool | None:
        """Whether the model is in training mode; None when there is no model to ask."""
        names = self.watching.names
        if names.version != self._version:
            self._version = names.version
            self.root = self._find_root()
        root = self.root() if self.root is not None else None
        return root.training if root is not None else None

    def at_work(self) -> bool:
        """Whether dropout or batch norm is in training mode: a frozen part may rest while others train."""
        root = self.root() if self.root is not None else None
        return root is not None and any(module.training and has_modes(module) for module in root.modules())

    def forget(self) -> None:
        """Another model trains now."""
        self._version, self._mode = -1, None
        self.watching.sampler.forget_samples()

    def _find_root(self) -> weakref.ref[nn.Module] | None:
        """The model whose parameters the leading optimizer holds."""
        roots, optimizer = self.watching.names.roots, self.watching.lead()
        if optimizer is not None and len(roots) > 1:
            roots = [root for root in roots if is_trained_by(root, optimizer)] or roots
        return weakref.ref(roots[0]) if roots else None

    def switched(self, module: nn.Module) -> None:
        """A module is put into eval mode: validation may follow."""
        model = self.root() if self.root is not None else None
        self.rested = self.rested or module is model
        self._wait_for_training()

    def _wait_for_training(self) -> None:
        """What this means is only known when training continues."""
        self.watching.validation.pending |= self._passing or self.rested

    def evaluates(self) -> None:
        """A pass over data without gradients begins."""
        if self._evaluated >= _TOLD or not self.recorder.step or self.watching.sampler.evaluations.of_another:
            return
        self._passing = self._passing or (self.training() is True and self.at_work())
        self._wait_for_training()

    def resumes(self) -> None:
        """Training continues: a pass in training mode is one in which nothing went into eval mode."""
        if self._passing and not self.rested:
            self._evaluated += 1
            self.recorder.event(
                "evaluated_in_train_mode",
                "a pass without gradients begins in training mode",
            )
        self._passing = self.rested = False

    def record_mode(self) -> None:
        """After a step: in which mode it was taken."""
        mode = self.training()
        if mode is None or mode is self._mode:
            return
        if self._mode is not None or not mode:
            word = "training" if mode else "eval"
            self.recorder.event("mode", f"the model trains in {word} mode", {"training": mode})
        self._mode = mode

    def sampled(self, in_eval: list[str], autocast: str | None) -> None:
        """From a sampled step: normalisation and dropout in eval mode while the model trains."""
        names = tuple(sorted(in_eval))
        if names != self._in_eval:
            self._in_eval = names
            listing = ", ".join(names[:8]) or "none"
            text = f"in eval mode while training: {listing}"
            self.recorder.event("eval_modules", text, {"modules": list(names[:100])})
        if autocast:
            self.recorder.setting("precision", f"{autocast} autocast")
