"""The authors' release is cloned where it is not there, and looked through."""

from frugalmct.paper.jobs.log import job_log
from frugalmct.sources.release import fetch_release

with job_log(snakemake.log[0]) as log:
    record = fetch_release(
        snakemake.output[0],
        snakemake.params.folder,
        snakemake.params.source,
        snakemake.params.datasets,
        snakemake.params.missing,
    )
    log.info("%s", record)
