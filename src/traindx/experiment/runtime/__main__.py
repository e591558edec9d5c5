"""`python -m traindx.experiment.runtime ORDERS.json`: one arm of a trial."""

from __future__ import annotations

import sys

from traindx.experiment.runtime import arm


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m traindx.experiment.runtime ORDERS.json")
    try:
        arm.run(sys.argv[1])
    except arm.Refused as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
