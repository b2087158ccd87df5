"""What routing with each predictor reached, as means over repetitions."""

from frugalmct.job import job_log
from frugalmct.studies.predictors import predictors_table
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = predictors_table(map(read_table, snakemake.input.parts))
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
