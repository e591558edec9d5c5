"""Runs compared: what differs, which is better and how surely, where they part, what to try."""

from traindx.comparison.compare import Comparison, TooFew, compare
from traindx.comparison.metric import NothingShared
from traindx.comparison.subjects import Subject, subjects

__all__ = ["Comparison", "NothingShared", "Subject", "TooFew", "compare", "subjects"]
