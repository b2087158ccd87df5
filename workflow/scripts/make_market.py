"""Answers become a market: with prices, and with how they are to be read."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log, warn
from frugalmct.sources import as_described
from frugalmct.suspicions import of_prices_and_budgets

with job_log(snakemake.log[0]) as log:
    market = as_described(Market.load(snakemake.input[0]), snakemake.params.block)
    market.save(snakemake.output[0], compress=snakemake.params.compress)
    log.info("prices: %s", market.price_list)
    # Costs in the data are known only now; given prices were compared when the configuration was read.
    if not snakemake.params.block["prices"]:
        budgets, unit = snakemake.params.budgets, snakemake.params.block["unit"]
        warn(log, market.name, of_prices_and_budgets(market.price_list, budgets, unit))
