"""The exhibits of a batch that are not up to date: table, figures and caption of each."""

from pathlib import Path

from frugalmct.paper.exhibit import make_exhibit
from frugalmct.paper.jobs.batch import Part, changed_parts
from frugalmct.paper.jobs.leftovers import remove_figures
from frugalmct.paper.jobs.log import job_log

with job_log(snakemake.log[0]) as log:
    code = snakemake.params.code
    parts = [Part(code=code[part["name"]], **part) for part in snakemake.params.parts]
    for part in changed_parts(parts, Path(snakemake.output.record)):
        table = make_exhibit(part.name, part.files, part.settings, part.table, part.figures, part.caption)
        log.info("%s: %d rows, %d figures", part.name, len(table), len(part.figures) // 2)
    for part in parts:
        gone = remove_figures(part.name, part.figures, Path(part.table).parents[1] / "figures")
        log.info("%s: of an earlier run, and removed: %s", part.name, [str(file) for file in gone])
