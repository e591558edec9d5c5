"""What a metric is called: one canonical vocabulary, and how log names are read into it.

A canonical name is `[split/]metric[/part][@scope]`: `loss`, `val/loss`, `loss/box`,
`grad_norm/encoder.0`, `loss@epoch`. No split means training. Scopes tell apart what one log holds
several times: `@epoch` (a mean over the epoch beside per-step values), `@step`, `@bar` (what a
progress bar showed inside an epoch), `@batch` (single validation batches), `@mean` (a running mean),
`@best`, `@final` (one value told at the end).
"""

from traindx.names.assign import Candidate, Named, assign, parse_overrides, traits
from traindx.names.settings import setting_name, settings
from traindx.names.understand import Meaning, axis_of, counter_rank, parts, split_of, understand
from traindx.names.vocabulary import METRICS, SCOPES, SETTINGS

__all__ = [
    "METRICS",
    "SCOPES",
    "SETTINGS",
    "Candidate",
    "Meaning",
    "Named",
    "assign",
    "axis_of",
    "counter_rank",
    "parse_overrides",
    "parts",
    "setting_name",
    "settings",
    "split_of",
    "traits",
    "understand",
]
