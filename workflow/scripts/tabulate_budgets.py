"""The long table and the training estimates become the cheapest budgets for target accuracies."""

from frugalmct.diagnose import foreseen_budget
from frugalmct.job import job_log
from frugalmct.predictions import Predictions
from frugalmct.results import cheapest_budgets
from frugalmct.tables import read_table, write_table

with job_log(snakemake.log[0]) as log:
    foresight = {
        tuple(cell): foreseen_budget(Predictions.load(file))
        for cell, file in zip(snakemake.params.cells, snakemake.input.predictions, strict=True)
    }
    table = cheapest_budgets(read_table(snakemake.input.tradeoff), foresight, snakemake.params.datasets)
    write_table(table, snakemake.output[0])
    log.info("%d targets", len(table))
