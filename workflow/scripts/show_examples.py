"""A few test items are shown from the base's answer to the combined one."""

from frugalmct.job import job_log
from frugalmct.studies.case import Case
from frugalmct.studies.examples import worked_examples
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    case = Case.load(snakemake.input, snakemake.params.budget, snakemake.params.block["metric"])
    table = worked_examples(case)
    write_table(table, snakemake.output[0])
    log.info("%d examples", len(table))
