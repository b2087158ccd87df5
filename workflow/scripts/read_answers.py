"""A dataset's source becomes its answers: a market that has no prices yet."""

from frugalmct.paper.jobs.log import job_log
from frugalmct.sources import load_market

with job_log(snakemake.log[0]) as log:
    market = load_market(
        snakemake.wildcards.dataset,
        snakemake.params.block,
        seed=snakemake.params.seed,
        scale=snakemake.params.scale,
    )
    market.save(snakemake.output[0], compress=snakemake.params.compress)
    log.info("%d items, services: %s", len(market), market.services)
