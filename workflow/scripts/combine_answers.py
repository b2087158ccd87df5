"""Training items become combiners, of every base that may be chosen."""

from frugalmct.accuracy_model import Learning
from frugalmct.job import job_log
from frugalmct.market import Market, Split
from frugalmct.predictions import Combination

with job_log(snakemake.log[0]) as log:
    params, block = snakemake.params, snakemake.params.block
    learning = Learning(
        metric=block["metric"],
        labels_per_item=block["labels_per_item"],
        abstain=params.silence == "abstain",
    )
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    combination = Combination.fit(market, parts, block["base"], learning)
    combination.save(snakemake.output[0])
    log.info("%s", combination.combiners)
