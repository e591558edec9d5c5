"""Stable-Baselines3: `model.learn(total_timesteps=100_000, callback=TraindxCallback())`."""

from __future__ import annotations

from typing import Any, Unpack

from traindx.integrations._session import CallbackOptions, Session, framework

Callback: Any = framework("stable_baselines3.common.callbacks", "sb3").BaseCallback
Writer: Any = framework("stable_baselines3.common.logger", "sb3").KVWriter

# What an algorithm calls a setting, and its canonical name.
_SETTINGS = {
    "learning_rate": "lr",
    "batch_size": "batch_size",
    "max_grad_norm": "clip",
    "gamma": "gamma",
    "n_steps": "n_steps",
    "n_epochs": "n_epochs",
    "ent_coef": "ent_coef",
    "buffer_size": "buffer_size",
    "learning_starts": "learning_starts",
}


class _Logged(Writer):  # type: ignore[misc]
    """One more output of the algorithm's logger."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def write(self, values: dict[str, Any], excluded: object, step: int = 0) -> None:  # noqa: ARG002
        self._session.log(values)

    def close(self) -> None:
        """Nothing of its own is open."""


class TraindxCallback(Callback):  # type: ignore[misc]
    """Records the training with all that the algorithm logs, and prints its diagnosis at the end."""

    def __init__(self, verbose: int = 0, **options: Unpack[CallbackOptions]) -> None:
        super().__init__(verbose)
        self.session = Session(**options)
        self._logged = _Logged(self.session)
        self._stops = False

    def _on_training_start(self) -> None:
        self.session.begin(self.model.policy)
        self.session.settings(
            {ours: getattr(self.model, attribute, None) for attribute, ours in _SETTINGS.items()}
        )
        self.logger.output_formats.append(self._logged)

    def _on_rollout_end(self) -> None:
        self._stops = self._stops or self.session.stop_wanted()

    def _on_step(self) -> bool:
        return not self._stops

    def _on_training_end(self) -> None:
        if self._logged in self.logger.output_formats:
            self.logger.output_formats.remove(self._logged)
        self.session.end()
