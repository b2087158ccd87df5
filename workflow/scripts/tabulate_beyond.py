"""The long table becomes gains, areas under the frontier, losses by cause, and use of the budget."""

from frugalmct.job import job_log
from frugalmct.results import beyond
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = beyond(read_table(snakemake.input.tradeoff), snakemake.params.tasks)
    write_table(table, snakemake.output[0])
    log.info("largest overrun %s", table["largest_overrun_online"].max())
