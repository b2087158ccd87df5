"""A study's rows of one dataset and repetition."""

from importlib import import_module

from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.tables import write_table

with job_log(snakemake.log[0]) as log:
    study = import_module(snakemake.params.study)
    cell = snakemake.wildcards
    files = {name: snakemake.input[name] for name in study.NEEDS}
    settings = snakemake.params.settings | {"threads": snakemake.threads}
    case = study.Case.load(cell.dataset, int(cell.repetition), files, settings)
    table = study.run(case)
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
