"""Settings for all tests: examples may take their time on a loaded machine, and Ctrl-C is heard."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("traindx", deadline=None)
settings.load_profile("traindx")
# A shell lets what it starts in the background ignore SIGINT, and programs that tests interrupt inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
