"""The table of labels becomes the picture of one dataset's."""

from frugalmct.figures.base import save_figure
from frugalmct.figures.labels import plot_label_distribution
from frugalmct.job import job_log
from frugalmct.tables import read_table

with job_log(snakemake.log[0]) as log:
    table = read_table(snakemake.input.labels)
    figure = plot_label_distribution(table, snakemake.params.dataset)
    save_figure(figure, snakemake.output)
    log.info("wrote %s", list(snakemake.output))
