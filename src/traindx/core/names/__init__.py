"""What a metric is called: one canonical vocabulary, and how log names are read into it.

A canonical name is `[split/]metric[/part][@scope]`: `loss`, `val/loss`, `loss/box`,
`grad_norm/encoder.0`, `loss@epoch`. No split means training. Scopes tell apart what one log holds
several times: `@epoch` (a mean over the epoch beside per-step values), `@step`, `@bar` (what a
progress bar showed inside an epoch), `@batch` (single validation batches), `@mean` (a running mean),
`@best`, `@final` (one value told at the end).

A log that calls nothing a loss has one all the same when it holds what is plainly minimised (`mse`,
`nll`, `obj`, ...): that curve becomes `loss`, its validation twin `val/loss`, and a note says so. Memory
whose column names a unit (`mem_mb`, `rss_gb`) is told in bytes.
"""

from traindx.core.names.assign import Candidate, Named, assign, traits
from traindx.core.names.counters import axis_of, counter_rank
from traindx.core.names.overrides import parse_overrides, refers
from traindx.core.names.secondary import aside
from traindx.core.names.setting_names import setting_name, settings
from traindx.core.names.understand import Meaning, byte_factor, canonical, parts, split_of, understand
from traindx.core.names.vocabulary import EITHER_SIGN, METRICS, OBJECTIVES, SCOPES, SETTINGS

__all__ = [
    "EITHER_SIGN",
    "METRICS",
    "OBJECTIVES",
    "SCOPES",
    "SETTINGS",
    "Candidate",
    "Meaning",
    "Named",
    "aside",
    "assign",
    "axis_of",
    "byte_factor",
    "canonical",
    "counter_rank",
    "parse_overrides",
    "parts",
    "refers",
    "setting_name",
    "settings",
    "split_of",
    "traits",
    "understand",
]
