"""An exhibit: its table, its figures, its caption."""

from pathlib import Path

from frugalmct.paper.exhibit import make_exhibit
from frugalmct.paper.jobs.leftovers import remove_figures
from frugalmct.paper.jobs.log import job_log

with job_log(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    table = make_exhibit(
        params.exhibit, params.files, params.settings, output.table, output.figures, output.caption
    )
    gone = remove_figures(params.exhibit, output.figures, Path(output.table).parents[1] / "figures")
    log.info("of an earlier run, and removed: %s", [str(file) for file in gone])
    log.info("%d rows, %d figures", len(table), len(output.figures) // 2)
