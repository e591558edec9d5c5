"""Imported by multiprocessing's fork server: the children it forks are observed from their first line."""

import contextlib

from traindx.record.children import observe

with contextlib.suppress(Exception):
    observe()
