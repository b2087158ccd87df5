"""A market's items are divided into training, validation and test; what they can hardly tell is said."""

from frugalmct.market import LabelMarket, Market
from frugalmct.paper.jobs.log import job_log, warn
from frugalmct.splits import split
from frugalmct.suspicions import few_test_items, one_label

with job_log(snakemake.log[0]) as log:
    market, cell = Market.load(snakemake.input[0]), snakemake.wildcards
    parts = split(
        len(market),
        train_share=snakemake.params.train_share,
        validation_share=snakemake.params.validation_share,
        seed=snakemake.params.seed,
        dataset=cell.dataset,
        repetition=int(cell.repetition),
    )
    parts.save(snakemake.output[0])
    log.info("%d train, %d validation, %d test", len(parts.train), len(parts.validation), len(parts.test))
    if cell.repetition == "0":
        warn(log, cell.dataset, few_test_items(len(parts.test)))
        if isinstance(market, LabelMarket):
            warn(log, cell.dataset, one_label(*market.true_label_counts(), snakemake.params.labels_per_item))
