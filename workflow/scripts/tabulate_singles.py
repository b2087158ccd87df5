"""The long table becomes each service alone, beside the paper and the authors' release."""

from frugalmct.job import job_log
from frugalmct.singles import single_services
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = single_services(read_table(snakemake.input.tradeoff), snakemake.params.datasets)
    write_table(table, snakemake.output[0])
    log.info("%d services", len(table))
