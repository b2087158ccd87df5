"""Choices at one budget become the case study: shares, the price's effect, a comparison."""

from frugalmct.job import job_log
from frugalmct.seeds import small_seed
from frugalmct.studies.case import Case
from frugalmct.studies.case_study import case_study
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    case = Case.load(snakemake.input, snakemake.params.budget, snakemake.params.block["metric"])
    repetition = int(snakemake.wildcards.repetition)
    seed = small_seed(snakemake.params.seed, snakemake.wildcards.dataset, repetition)
    table = case_study(case, repetition, seed)
    write_table(table, snakemake.output[0])
    log.info("budget %g, price %g, %d rows", case.budget, case.price, len(table))
