"""Answers become a market: with prices, and with how they are to be read."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.sources import as_described

with job_log(snakemake.log[0]) as log:
    market = as_described(Market.load(snakemake.input[0]), snakemake.params.block)
    market.save(snakemake.output[0], compress=snakemake.params.compress)
    log.info("prices: %s", market.price_list)
