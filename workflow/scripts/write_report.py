"""Tables and figures become one page."""

from pathlib import Path

from frugalmct.job import job_log
from frugalmct.report.page import write_report

with job_log(snakemake.log[0]) as log:
    run = write_report(
        snakemake.output[0],
        snakemake.input.tables,
        snakemake.input.figures,
        snakemake.params.settings,
        snakemake.params.benchmarks,
        Path(snakemake.scriptdir).parents[1],
    )
    log.info("%d tables, %d figures, missing: %s", len(run.tables), len(run.figures), run.missing)
