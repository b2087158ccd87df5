"""A predictor is trained on the base's answers and estimates what each combination will reach."""

from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination, Predictions, learning_of

with job_log(snakemake.log[0]) as log:
    predictions = Predictions.make(
        Market.load(snakemake.input.market),
        Split.load(snakemake.input.split),
        Combination.load(snakemake.input.combination),
        learning_of(
            snakemake.params.block, snakemake.params.learning, snakemake.wildcards, snakemake.threads
        ),
    )
    predictions.save(snakemake.output[0])
    log.info("estimates for bases %s", sorted(predictions.by_base))
