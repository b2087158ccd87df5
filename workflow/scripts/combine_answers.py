"""Training items become combiners, of every base that may be chosen."""

from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination, learning_of

with job_log(snakemake.log[0]) as log:
    block = snakemake.params.block
    combination = Combination.fit(
        Market.load(snakemake.input.market),
        Split.load(snakemake.input.split),
        block["base"],
        learning_of(block, snakemake.params.learning, snakemake.wildcards, snakemake.threads),
    )
    combination.save(snakemake.output[0])
    log.info("%s", combination.combiners)
