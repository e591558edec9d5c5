"""`traindx doctor`: what of the machine and its installation will slow or spoil a training.

One module for each subject; each measures and gives lines. `examination.py` puts them together.
"""
