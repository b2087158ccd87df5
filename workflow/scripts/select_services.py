"""Estimates become choices: every method at every budget, and what they turn out to be worth."""

from frugalmct.evaluate import sweep
from frugalmct.job import job_log
from frugalmct.predictions import Combination, Predictions
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    rows = sweep(
        snakemake.wildcards.dataset,
        int(snakemake.wildcards.repetition),
        Predictions.load(snakemake.input.predictions),
        Combination.load(snakemake.input.combination).plans,
    )
    write_table(rows, snakemake.output[0])
    log.info("%d rows", len(rows))
