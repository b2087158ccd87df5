"""Precision and recall of one dataset's labels become a heatmap."""

from frugalmct.figures.base import (
    read_for_figure,
    released_datasets,
    rows_of,
    save_figure,
    simulated_datasets,
)
from frugalmct.figures.per_label import plot_per_label
from frugalmct.job import job_log

with job_log(snakemake.log[0]) as log:
    table = rows_of(read_for_figure(snakemake.input.table), snakemake.params.dataset)
    statistics = read_for_figure(snakemake.input.statistics)
    simulated, released = simulated_datasets(statistics), released_datasets(statistics)
    save_figure(plot_per_label(table, simulated, released=released), snakemake.output)
    log.info("%d rows, wrote %s", len(table), list(snakemake.output))
