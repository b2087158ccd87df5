"""Training items become combiners; base and buffer are chosen where the config says `auto`."""

from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination, learning_of

with job_log(snakemake.log[0]) as log:
    block = snakemake.params.block
    combination = Combination.fit(
        Market.load(snakemake.input.market),
        Split.load(snakemake.input.split),
        block["budgets"],
        block["base"],
        snakemake.params.delta,
        learning_of(block, snakemake.params.learning, snakemake.wildcards, snakemake.threads),
    )
    combination.save(snakemake.output[0])
    log.info("bases %s, %s", sorted(combination.combiners), combination.plans)
