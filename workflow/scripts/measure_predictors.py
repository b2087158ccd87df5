"""Estimates are held against the truth: those of the predictor, and those of the dummy."""

from frugalmct.diagnose import quality_table
from frugalmct.job import job_log
from frugalmct.predictions import Predictions
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    cells = zip(snakemake.params.cells, snakemake.input.predictions, strict=True)
    table = quality_table(
        ((dataset, repetition, Predictions.load(file)) for (dataset, repetition), file in cells),
        snakemake.params.predictor,
    )
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
