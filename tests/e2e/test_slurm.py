"""The same workflow on a real cluster: the same bytes, and a job that ran out of memory gets more."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from slurm_cluster import NODES, Cluster, obstacle, started_cluster
from tiny_project import PROJECT, Project, copied_project

# One worker does all that share the run.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("tiny run")]
PROFILE = PROJECT / "workflow" / "profiles" / "slurm"
# At the end of a script, so that the first attempt also leaves a file to be made anew.
FAILURE = """
if snakemake.wildcards == ["own", "1"] and snakemake.resources.mem_mb <= 2000:
    raise MemoryError("a first attempt's memory is not enough")
"""
# One machine, small jobs: nothing to wait for, and nobody to pay.
AT_ONCE = (
    *("--slurm-init-seconds-before-status-checks", "1", "--seconds-between-status-checks", "1"),
    *("--latency-wait", "10", "--slurm-no-account"),
)


# What a reader looks at.
SHOWN = ("tables/", "figures/", "captions/", "report.html")


def drawn_in(project: Project) -> int:
    """How many figures the report holds."""
    return (project.folder / "results" / "report.html").read_text(encoding="utf-8").count("<figure")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if reason := obstacle():
        pytest.skip(f"no Slurm here: {reason}")
    # Not pytest's own folder: sockets have short names.
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder, started_cluster(Path(folder)) as running:
        yield running


@pytest.fixture(scope="module")
def failing_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project of which one job fails unless it has more memory than a first attempt asks for."""
    root, results = tmp_path_factory.mktemp("failing"), tmp_path_factory.mktemp("results")
    project = copied_project(root, results / "cluster")
    with (root / "workflow" / "scripts" / "select_services.py").open("a", encoding="utf-8") as script:
        script.write(FAILURE)
    return project


def test_the_cluster_gives_the_same_bytes_and_a_failed_job_more_memory(cluster, failing_once, finished):
    told = failing_once.run(
        *("--workflow-profile", str(PROFILE), *AT_ONCE),
        environment=cluster.environment,
        # Minutes on an idle machine; a cluster that hangs must not hold up everything else.
        seconds=3600,
    )
    made, alone = failing_once.fingerprints(), finished.fingerprints()
    assert made == {name: alone[name] for name in made}
    shown = {name for name in finished.made() if name.startswith(SHOWN)}
    assert {name.partition("/")[0] for name in shown} == {"tables", "figures", "captions", "report.html"}
    assert shown <= failing_once.made()
    assert drawn_in(failing_once) == drawn_in(finished) > 0, "the report has every figure"
    assert told.count("Choices for own, repetition 1") == 2, "failed once, then done"
    assert told.count("Trying to restart job") == 1, "nothing else failed"
    assert "own is done: " in told, "told where the run was started, not in a log of the cluster"
    assert cluster.nodes_used() == set(NODES)
