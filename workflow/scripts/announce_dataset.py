"""What a dataset came out at, in one line: kept in a file, and shown to whoever watches the run."""

from frugalmct.files import write_text
from frugalmct.paper.jobs.log import job_log, say
from frugalmct.paper.report.headline import headline
from frugalmct.paper.tables import read_table, stacked
from frugalmct.splits import Split
from frugalmct.values import printable

with job_log(snakemake.log[0]) as log:
    tradeoff = stacked(map(read_table, snakemake.input.tables))
    tested = len(Split.load(snakemake.input.split).test)
    line = headline(snakemake.wildcards.dataset, snakemake.params.task, tradeoff, tested)
    write_text(snakemake.output[0], line + "\n")
    log.info(line)
    say(printable(line))
