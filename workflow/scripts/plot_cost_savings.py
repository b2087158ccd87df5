"""The table of savings becomes a picture, the paper's beside ours."""

from frugalmct.figures.base import read_for_figure, released_datasets, save_figure, simulated_datasets
from frugalmct.figures.savings import plot_cost_savings
from frugalmct.job import job_log

with job_log(snakemake.log[0]) as log:
    table = read_for_figure(snakemake.input.table)
    statistics = read_for_figure(snakemake.input.statistics)
    simulated, released = simulated_datasets(statistics), released_datasets(statistics)
    save_figure(plot_cost_savings(table, simulated, released=released), snakemake.output)
    log.info("%d rows, wrote %s", len(table), list(snakemake.output))
