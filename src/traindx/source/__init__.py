"""The user's source, read and never run: the input of detectors that need `script`."""

from traindx.source.script import Script, Source, read_script

__all__ = ["Script", "Source", "read_script"]
