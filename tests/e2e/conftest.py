"""The small run, done once for all tests of this folder."""

import os
from collections.abc import Iterator

import pytest
from tiny_project import Project, copied_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy in which nothing has run."""
    return copied_project(tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("results") / "first")


@pytest.fixture(scope="session")
def finished(project: Project) -> Project:
    """The small run, done once on two cores."""
    project.run()
    return project


@pytest.fixture
def edited(finished: Project) -> Iterator[Project]:
    """The finished run, to edit the code of; every edit is undone."""
    before = {file: file.read_bytes() for file in (finished.root / "src").rglob("*") if file.is_file()}
    times = {file: file.stat() for file in before}
    yield finished
    for file, content in before.items():
        if file.read_bytes() != content or file.stat().st_mtime_ns != times[file].st_mtime_ns:
            file.write_bytes(content)
            os.utime(file, ns=(times[file].st_atime_ns, times[file].st_mtime_ns))
