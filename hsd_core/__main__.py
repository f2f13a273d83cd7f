"""`python -m hsd_core`: the command line over the engine."""

import sys

from hsd_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
