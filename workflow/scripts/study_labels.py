"""Answers become precision and recall of every label."""

from frugalmct.job import job_log
from frugalmct.studies.case import Case
from frugalmct.studies.labels import per_label
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    case = Case.load(snakemake.input, snakemake.params.budget, snakemake.params.block["metric"])
    table = per_label(case)
    write_table(table, snakemake.output[0])
    log.info("%d labels", table["label"].nunique())
