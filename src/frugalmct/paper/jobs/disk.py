"""A disk that a run cannot write to, told before anything starts: Snakemake would show a traceback."""

import os
import shutil
from pathlib import Path

from frugalmct.errors import FrugalError

LEAST_FREE = 10 * 2**20


def check_disk(folder: Path) -> None:
    """That files can be written in this folder, and that there is some room."""
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FrugalError(f"{folder}: results cannot be written here; run in a folder that you may write to.")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise FrugalError(
            f"{folder}: the disk is full ({free / 2**20:.1f} MB left); free some space, or run elsewhere."
        )
