"""Gains of predictors become a picture, a panel a dataset."""

from frugalmct.figures.base import read_for_figure, save_figure, simulated_datasets
from frugalmct.figures.predictor_study import plot_predictors
from frugalmct.job import job_log

with job_log(snakemake.log[0]) as log:
    table = read_for_figure(snakemake.input.table)
    simulated = simulated_datasets(read_for_figure(snakemake.input.statistics))
    save_figure(plot_predictors(table, simulated), snakemake.output)
    log.info("%d rows, wrote %s", len(table), list(snakemake.output))
