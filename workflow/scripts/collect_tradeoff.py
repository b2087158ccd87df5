"""The rows of every dataset, repetition and method become the long table."""

from frugalmct.job import job_log
from frugalmct.results import collect_tradeoff
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = collect_tradeoff([read_table(part) for part in snakemake.input.parts])
    write_table(table, snakemake.output[0])
    log.info("%d rows of %d methods", len(table), table["method"].nunique())
