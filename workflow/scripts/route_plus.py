"""FrugalMCT plus learns from the training items, and is swept over the budgets."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.plus import plus_learning, sweep_plus
from frugalmct.paper.tables import write_table
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    block = snakemake.params.block
    rows = sweep_plus(
        market.subset(parts.whole_train),
        market.subset(parts.test),
        block["budgets"],
        block["base"],
        plus_learning(dataset, repetition, block, snakemake.params.seed, snakemake.threads),
        repetition,
    )
    write_table(rows, snakemake.output[0])
    log.info("%d rows", len(rows))
