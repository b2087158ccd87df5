"""A market's items are divided into training, validation and test."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.splits import split

with job_log(snakemake.log[0]) as log:
    parts = split(
        len(Market.load(snakemake.input[0])),
        train_share=snakemake.params.train_share,
        validation_share=snakemake.params.validation_share,
        seed=snakemake.params.seed,
        dataset=snakemake.wildcards.dataset,
        repetition=int(snakemake.wildcards.repetition),
    )
    parts.save(snakemake.output[0])
    log.info("%d train, %d validation, %d test", len(parts.train), len(parts.validation), len(parts.test))
