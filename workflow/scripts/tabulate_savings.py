"""The long table becomes what FrugalMCT pays for the accuracy of the best service."""

from frugalmct.job import job_log
from frugalmct.results import cost_savings
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = cost_savings(read_table(snakemake.input.tradeoff), snakemake.params.tasks)
    write_table(table, snakemake.output[0])
    log.info("savings %s", dict(zip(table["dataset"], table["saving"].round(3), strict=True)))
