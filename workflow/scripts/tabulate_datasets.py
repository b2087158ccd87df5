"""Markets become the tables of their sizes and of their labels."""

from frugalmct.job import job_log
from frugalmct.market import Market
from frugalmct.tables import describe_markets, write_table

with job_log(snakemake.log[0]) as log:
    statistics, labels = describe_markets(map(Market.load, snakemake.input.markets), snakemake.params.dropped)
    write_table(statistics, snakemake.output.statistics)
    write_table(labels, snakemake.output.labels)
    log.info("%d datasets, %d labels", len(statistics), len(labels))
