"""Keeps what the jobs of a default run took, for `make plan` where nothing was run yet.

    snakemake --cores 2 && python tools/keep_times.py "two cores of an AMD EPYC of 2024"

On a machine with nothing else to do: it also times a tree there, which tells how other machines compare.
"""

import sys

from frugalmct.paper.jobs.forecast import BENCHMARKS, earlier_seconds
from frugalmct.paper.jobs.reference import keep

if len(sys.argv) != 2:
    sys.exit('keep_times: say what machine this is, such as: python tools/keep_times.py "two cores of ..."')
seconds = earlier_seconds(BENCHMARKS)
if not seconds:
    sys.exit(f"keep_times: {BENCHMARKS} has no times; do the default run first.")
keep(seconds, sys.argv[1])
