"""Where calls have costs of their own: our method learns from training items and is swept over budgets."""

from frugalmct.market import Market
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.stages.call_estimates import RepetitionCalls
from frugalmct.paper.stages.per_call import default_budgets, fit_per_call, settings_of, sweep_per_call
from frugalmct.paper.tables import write_table
from frugalmct.splits import Split

with job_log(snakemake.log[0]) as log:
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    market, parts = Market.load(snakemake.input.market), Split.load(snakemake.input.split)
    block, test = snakemake.params.block, market.subset(parts.test)
    found = fit_per_call(
        market.subset(parts.whole_train),
        block["budgets"] or default_budgets(market, block["base"], block["metric"]),
        block["base"],
        settings_of(dataset, repetition, snakemake.params.seed, snakemake.threads),
    )
    rows = sweep_per_call(found, test, repetition)
    RepetitionCalls.of(found, test).save(snakemake.output.estimates)
    write_table(rows, snakemake.output.rows)
    log.info("%d rows", len(rows))
