"""Training items become combiners, of every base that may be chosen."""

from frugalmct.market import Market
from frugalmct.model import Learning
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.combine import Combination
from frugalmct.splits import Split

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
