"""The canonical vocabulary of metrics, and how names in logs are translated into it.

A canonical name is `[split/]metric[/part][@scope]`: `loss`, `val/loss`, `loss/box`,
`grad_norm/encoder.0`, `loss@epoch`. No split means training. Scopes distinguish what one log has
several times: `@epoch` (a mean over the epoch next to per-step values), `@step`, `@bar` (what a
progress bar showed inside an epoch), `@batch` (single validation batches), `@mean` (a running mean),
`@best`, `@final` (one value at the end).

A log that calls nothing a loss has one all the same when it has what is plainly minimised (`mse`,
`nll`, `obj`, ...): that curve becomes `loss`, its validation twin `val/loss`, and a note says so. Memory
whose column names a unit (`mem_mb`, `rss_gb`) is given in bytes; how busy a GPU is and how full its memory
are shares of 1, also where the column has percent. With several GPUs the number is the part:
`gpu_busy_share/0`.
"""

from traindx.core.names.assign import NamedColumn, UnnamedColumn, assign, traits
from traindx.core.names.counters import axis_of, counter_rank
from traindx.core.names.overrides import parse_overrides, refers
from traindx.core.names.setting_names import setting_name, settings
from traindx.core.names.understand import (
    Meaning,
    canonical,
    is_secondary,
    parts,
    split_of,
    understand,
    unit_factor,
)
from traindx.core.names.vocabulary import EITHER_SIGN, METRICS, OBJECTIVES, SCOPES, SETTINGS

__all__ = [
    "EITHER_SIGN",
    "METRICS",
    "OBJECTIVES",
    "SCOPES",
    "SETTINGS",
    "Meaning",
    "NamedColumn",
    "UnnamedColumn",
    "assign",
    "axis_of",
    "canonical",
    "counter_rank",
    "is_secondary",
    "parse_overrides",
    "parts",
    "refers",
    "setting_name",
    "settings",
    "split_of",
    "traits",
    "understand",
    "unit_factor",
]
