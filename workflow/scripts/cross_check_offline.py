"""The offline problem of every budget is solved by several solvers, which must agree."""

from frugalmct.diagnose import solver_agreement
from frugalmct.job import job_log
from frugalmct.predictions import Predictions
from frugalmct.strategy import load_plans
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    table = solver_agreement(
        snakemake.wildcards.dataset,
        int(snakemake.wildcards.repetition),
        Predictions.load(snakemake.input.predictions),
        load_plans(snakemake.input.plans),
        snakemake.params.time_limit,
    )
    write_table(table, snakemake.output[0])
    log.info("largest difference %s", table["difference"].abs().max())
