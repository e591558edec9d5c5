"""The user's source, read and never run: what detectors that need `script` look at."""

from traindx.source.script import Script, Source, read_script

__all__ = ["Script", "Source", "read_script"]
