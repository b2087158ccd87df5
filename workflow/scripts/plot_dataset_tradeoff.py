"""The long table becomes the larger picture of one dataset."""

from frugalmct.figures.base import (
    read_for_figure,
    released_datasets,
    rows_of,
    save_figure,
    simulated_datasets,
)
from frugalmct.figures.tradeoff import plot_dataset_tradeoff
from frugalmct.job import job_log

with job_log(snakemake.log[0]) as log:
    table = rows_of(read_for_figure(snakemake.input.table), snakemake.params.dataset)
    statistics = read_for_figure(snakemake.input.statistics)
    simulated, released = simulated_datasets(statistics), released_datasets(statistics)
    save_figure(plot_dataset_tradeoff(table, simulated, released=released), snakemake.output)
    log.info("%d rows, wrote %s", len(table), list(snakemake.output))
