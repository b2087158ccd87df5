"""What stands beside FrugalMCT is swept over the budgets: services alone, FrugalML, votes, and a limit."""

from frugalmct.diagnose import sweep_beside
from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination
from frugalmct.seeds import small_seed
from frugalmct.strategy import load_plans
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    rows = sweep_beside(
        Market.load(snakemake.input.market),
        Split.load(snakemake.input.split),
        Combination.load(snakemake.input.combination),
        load_plans(snakemake.input.plans),
        snakemake.params.metric,
        repetition,
        small_seed(snakemake.params.seed, dataset, repetition),
    )
    write_table(rows, snakemake.output[0])
    log.info("%d rows", len(rows))
