"""Beside FrugalMCT, over the budgets: services alone, FrugalML, votes, and fairer forms of these."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.baselines import sweep_baselines, sweep_fair_baselines
from frugalmct.paper.stages.estimate import RepetitionEstimates
from frugalmct.paper.tables import stacked, write_table
from frugalmct.seeds import small_seed
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    estimates = RepetitionEstimates.load(snakemake.input.estimates, market.price_list)
    train, test, block = market.subset(parts.whole_train), market.subset(parts.test), snakemake.params.block
    seed = small_seed(snakemake.params.seed, dataset, repetition)
    given = (block["budgets"], block["metric"], repetition, seed)
    options = {"labels_per_item": block["labels_per_item"]}
    usual = sweep_baselines(train, test, *given, **options)
    rows = stacked([usual, sweep_fair_baselines(train, test, estimates, *given, **options)])
    write_table(rows, snakemake.output[0])
    log.info("%d rows", len(rows))
