"""Simulated markets are compared with what the paper and the released answers say."""

from frugalmct.fidelity import fidelity_table
from frugalmct.job import job_log
from frugalmct.market import Market
from frugalmct.paper import figures_of
from frugalmct.tables import stacked, write_table

with job_log(snakemake.log[0]) as log:
    markets = map(Market.load, snakemake.input.markets)
    table = stacked(fidelity_table(market, figures_of(market.name)) for market in markets)
    write_table(table, snakemake.output[0])
    log.info("%d targets, missed: %d", len(table), table["within"].eq(False).sum())
