"""The prices in the configuration become the table of services."""

from frugalmct.job import job_log
from frugalmct.tables import service_prices, write_table

with job_log(snakemake.log[0]) as log:
    table = service_prices(snakemake.params.datasets, snakemake.params.dropped)
    write_table(table, snakemake.output[0])
    log.info("%d services in %d tasks", len(table), table["task"].nunique())
