"""`python -m frugalmct`, where the `frugalmct` command is not on the path."""

import sys

from frugalmct.cli import main

if __name__ == "__main__":
    sys.exit(main())
