"""How far the solvers agree, of every dataset and repetition, in one table."""

from frugalmct.job import job_log
from frugalmct.tables import read_table, stacked, write_table

with job_log(snakemake.log[0]) as log:
    table = stacked(read_table(part) for part in snakemake.input.parts)
    write_table(table, snakemake.output[0])
    log.info("%d rows, %d not proven", len(table), (~table["proven"]).sum())
