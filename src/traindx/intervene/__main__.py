"""`python -m traindx.intervene ORDERS.json`: one arm of a trial."""

from __future__ import annotations

import sys

from traindx.intervene import arm

if __name__ == "__main__":
    arm.run(sys.argv[1])
