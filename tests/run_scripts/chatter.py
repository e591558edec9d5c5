"""Prints in all the ways that trainings print: lines, bars that are redrawn, halves of lines, colours."""

import sys
import time

SECONDS = float(sys.argv[1])

start = time.monotonic()
number = 0
while time.monotonic() - start < SECONDS:
    number += 1
    print(f"line {number} " + "x" * (number * 7 % 90))
    if number % 10 == 0:
        for done in range(1, 9):
            sys.stderr.write(f"\r{done}/8 [{'#' * done:<8}]")
            sys.stderr.flush()
            time.sleep(0.004)
        sys.stderr.write("\n")
    if number % 7 == 0:
        print("half", end="", flush=True)
        time.sleep(0.01)
        print(" of a \x1b[1;31mline\x1b[0m", flush=True)
    time.sleep(0.004)
print("done", number, flush=True)
if "wait" in sys.argv:
    print("a last word without an end", end="", flush=True)
    time.sleep(30)
