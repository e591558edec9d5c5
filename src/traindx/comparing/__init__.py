"""Runs beside each other: what differs, which is better and how surely, where they part, what to try."""

from traindx.comparing.compare import Comparison, TooFew, compare
from traindx.comparing.metric import NothingShared
from traindx.comparing.subjects import Subject, subjects

__all__ = ["Comparison", "NothingShared", "Subject", "TooFew", "compare", "subjects"]
