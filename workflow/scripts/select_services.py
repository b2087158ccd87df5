"""Estimates become plans and choices: every method at every budget, and what they turn out to be worth."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.combine import Combination
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.stages.plans import save_plans
from frugalmct.paper.stages.select import sweep_all
from frugalmct.paper.tables import write_table
from frugalmct.seeds import small_seed
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    files, block = snakemake.input, snakemake.params.block
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    market, parts = Market.load(files.market), Split.load(files.split)
    estimates = RepetitionEstimates.load(files.estimates, market.price_list)
    plans = estimates.plans(parts, block["budgets"], snakemake.params.delta)
    test, combination = market.subset(parts.test), Combination.load(files.combination)
    seed = small_seed(snakemake.params.seed, dataset, repetition)
    rows = sweep_all(test, combination, estimates, plans, block["metric"], repetition, seed)
    save_plans(plans, snakemake.output.plans)
    write_table(rows, snakemake.output.choices)
    log.info("%s", plans)
