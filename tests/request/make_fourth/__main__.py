"""Writes all logs."""

from . import answers, floors, gaps, ill, noises, speeds

if __name__ == "__main__":
    for module in (floors, gaps, noises, speeds, ill, answers):
        module.write()
