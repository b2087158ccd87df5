"""Training and inference of each method are timed, one after the other in one job."""

from frugalmct.job import job_log
from frugalmct.predictions import learning_of
from frugalmct.studies.case import Case
from frugalmct.studies.runtime import runtime
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    block = snakemake.params.block
    case = Case.load(snakemake.input, snakemake.params.budget, block["metric"])
    learning = learning_of(block, snakemake.params.learning, snakemake.wildcards, snakemake.threads)
    table = runtime(case, learning)
    write_table(table, snakemake.output[0])
    log.info("%s", table[["method", "training_seconds", "inference_seconds"]].to_dict("records"))
