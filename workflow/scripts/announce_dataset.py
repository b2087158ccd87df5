"""What a dataset came out at, in one line: kept in a file, and shown to whoever watches the run."""

import sys

from frugalmct.files import write_text
from frugalmct.headline import headline
from frugalmct.job import job_log
from frugalmct.tables import read_table

with job_log(snakemake.log[0]) as log:
    parts = [read_table(part) for part in snakemake.input.parts]
    line = headline(snakemake.wildcards.dataset, snakemake.params.task, parts)
    write_text(snakemake.output[0], line + "\n")
    log.info(line)
    print(line, file=sys.stderr)
