"""Estimates are held against the truth: those of the predictor, and those of the dummy."""

from frugalmct.diagnose import quality_table
from frugalmct.job import job_log
from frugalmct.predictions import Predictions
from frugalmct.strategy import load_plans
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    files = snakemake.input
    cells = zip(snakemake.params.cells, files.predictions, files.plans, strict=True)
    table = quality_table(
        ((*cell, Predictions.load(file), load_plans(plans)) for cell, file, plans in cells),
        snakemake.params.predictor,
    )
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
