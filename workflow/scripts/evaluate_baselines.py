"""What stands beside FrugalMCT is swept over the budgets: services alone, FrugalML, votes."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.baselines import sweep_baselines
from frugalmct.paper.tables import write_table
from frugalmct.seeds import small_seed
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    block = snakemake.params.block
    rows = sweep_baselines(
        market.subset(parts.whole_train),
        market.subset(parts.test),
        block["budgets"],
        block["metric"],
        repetition,
        small_seed(snakemake.params.seed, dataset, repetition),
        labels_per_item=block["labels_per_item"],
    )
    write_table(rows, snakemake.output[0])
    log.info("%d rows", len(rows))
