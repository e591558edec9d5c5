"""Settings for all tests: examples may take their time on a loaded machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("traindx", deadline=None)
settings.load_profile("traindx")
