"""`python -m frugalmct.cli`."""

import sys

from frugalmct.cli import main

if __name__ == "__main__":
    sys.exit(main())
