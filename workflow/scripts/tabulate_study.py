"""What a study found, dataset by dataset, becomes its table."""

from frugalmct.job import job_log
from frugalmct.studies.parts import joined
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    table = joined(snakemake.input.parts)
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
