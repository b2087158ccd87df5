"""Estimates become plans and choices: every method at every budget, and what they turn out to be worth."""

from frugalmct.evaluate import sweep
from frugalmct.job import job_log
from frugalmct.market import Split
from frugalmct.predictions import Predictions
from frugalmct.strategy import save_plans
from frugalmct.tables import write_table

with job_log(snakemake.log[0]) as log:
    params = snakemake.params
    predictions = Predictions.load(snakemake.input.predictions)
    plans = predictions.plans(Split.load(snakemake.input.split), params.budgets, params.delta)
    save_plans(plans, snakemake.output.plans)
    dataset, repetition = snakemake.wildcards.dataset, int(snakemake.wildcards.repetition)
    rows = sweep(dataset, repetition, predictions, plans)
    write_table(rows, snakemake.output.choices)
    log.info("%s", plans)
