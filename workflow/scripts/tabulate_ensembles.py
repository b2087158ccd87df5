"""The long table becomes the comparison of FrugalMCT with FrugalML and the votes."""

from frugalmct.job import job_log
from frugalmct.results import ensembles
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    table = ensembles(read_table(snakemake.input.tradeoff), snakemake.params.datasets)
    write_table(table, snakemake.output[0])
    log.info("%d rows", len(table))
