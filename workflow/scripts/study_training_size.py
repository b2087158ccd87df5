"""FrugalMCT learns from fewer and fewer training items, and is tested on the same test items."""

from frugalmct.job import job_log
from frugalmct.predictions import learning_of
from frugalmct.studies.case import Case
from frugalmct.studies.training_size import training_size
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    block = snakemake.params.block
    case = Case.load(snakemake.input, snakemake.params.budget, block["metric"])
    learning = learning_of(block, snakemake.params.learning, snakemake.wildcards, snakemake.threads)
    table = training_size(case, int(snakemake.wildcards.repetition), learning)
    write_table(table, snakemake.output[0])
    log.info("%d sizes", len(table))
