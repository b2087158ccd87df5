"""Every predictor learns from the same items; what routing with each reaches is compared."""

from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination, learning_of
from frugalmct.strategy import load_plans
from frugalmct.studies.predictors import compare_predictors
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    table = compare_predictors(
        Market.load(snakemake.input.market),
        Split.load(snakemake.input.split),
        Combination.load(snakemake.input.combination),
        load_plans(snakemake.input.plans),
        snakemake.params.budgets,
        [
            learning_of(snakemake.params.block, learning, snakemake.wildcards, snakemake.threads)
            for learning in snakemake.params.learnings
        ],
        snakemake.params.lacking,
        int(snakemake.wildcards.repetition),
    )
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
