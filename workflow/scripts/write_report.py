"""Tables and figures become one page."""

from pathlib import Path

from frugalmct.paper.exhibits.registry import all_exhibits
from frugalmct.paper.jobs.leftovers import remove_others
from frugalmct.paper.jobs.log import job_log
from frugalmct.paper.report.page import write_report

with job_log(snakemake.log[0]) as log:
    files, params, output = snakemake.input, snakemake.params, Path(snakemake.output[0])
    run = write_report(
        output,
        files.tables,
        files.figures,
        params.settings,
        params.benchmarks,
        Path(snakemake.scriptdir).parents[1],
        params.timings,
    )
    kept = [*files.tables, *files.figures]
    gone = remove_others(all_exhibits(), kept, params.datasets, output.parent)
    log.info("%d tables, %d figures, missing: %s", len(run.tables), len(run.figures), run.missing)
    log.info("of an earlier run, and removed: %s", [str(file) for file in gone])
