"""Accuracies by number of training items become curves."""

from frugalmct.figures.base import read_for_figure, released_datasets, save_figure, simulated_datasets
from frugalmct.figures.training import plot_training_size
from frugalmct.job import job_log

with job_log(snakemake.log[0]) as log:
    table = read_for_figure(snakemake.input.table)
    statistics = read_for_figure(snakemake.input.statistics)
    simulated, released = simulated_datasets(statistics), released_datasets(statistics)
    save_figure(plot_training_size(table, simulated, released=released), snakemake.output)
    log.info("%d rows, wrote %s", len(table), list(snakemake.output))
