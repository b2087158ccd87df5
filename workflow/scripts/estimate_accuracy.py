"""Combiners become estimates, of every base that may be chosen."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates, learning_for
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    cell, params = snakemake.wildcards, snakemake.params
    learning = learning_for(
        cell.dataset, int(cell.repetition), params.block, params.learning, snakemake.threads
    )
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    combination = Combination.load(snakemake.input.combination)
    estimates = RepetitionEstimates.fit(market, parts, combination, learning)
    estimates.save(snakemake.output[0])
    log.info("bases: %s", [market.services[base] for base in estimates.by_base])
