"""A copy of the project, run small and whole in a folder of its own."""

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

PROJECT = Path(__file__).parents[2]
COPIED = ("Snakefile", "config.yaml", "config", "workflow", "envs", "src", "tests/config")
SERVICES = ("free", "fair", "dear")
# The report shows when and where it was made, and the case study's figure holds the solvers' times.
TELLS_TIMES = re.compile(
    r"logs/|benchmarks/|report\.html|(studies|tables|figures)/(solver_)?runtime|figures/case_study/"
    r"|(studies|tables)/(predictors|solver_agreement)|tables/claims"
    r"|made/(solver_\w+|runtime|case_study|predictors|claims)\.json"
)


class Project:
    """A project folder and a folder of results beside it."""

    def __init__(self, root: Path, results: Path) -> None:
        self.root = root
        self.folder = results

    def beside(self, name: str) -> "Project":
        """The same project with another, empty folder of results and the same own data."""
        folder = self.folder.with_name(name)
        folder.mkdir()
        shutil.copy(self.folder / "own.jsonl", folder)
        return Project(self.root, folder)

    def command(self, *arguments: str, cores: int = 2, config: str = "") -> list[str]:
        """`config` is the text of a further config file, on top of the others."""
        files = [self.root / "config.yaml", self.root / "tests/config/tiny.yaml"]
        if config:
            files.append(self.folder / "more.yaml")
            files[-1].write_text(config, encoding="utf-8")
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(self.root / "Snakefile")),
            *("--configfile", *map(str, files), "--directory", str(self.folder), "--cores", str(cores)),
            *arguments,
        ]

    @property
    def own_environment(self) -> dict[str, str]:
        return {"PYTHONPATH": str(self.root / "src"), "PYTHONDONTWRITEBYTECODE": "1"}

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | self.own_environment

    def run(
        self,
        *arguments: str,
        cores: int = 2,
        config: str = "",
        succeed: bool | None = True,
        environment: Mapping[str, str] = os.environ,
        seconds: float | None = None,
    ) -> str:
        """Runs Snakemake to its end, or for so many seconds, and returns what it printed; whether it must
        succeed, must not, or may do either (None)."""
        outcome = subprocess.run(
            self.command(*arguments, cores=cores, config=config),
            env={**environment, **self.own_environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=seconds,
        )
        assert succeed is None or (outcome.returncode == 0) == succeed, outcome.stdout
        return outcome.stdout

    def planned(self, config: str = "") -> set[str]:
        """The messages of the jobs that a dry run would start."""
        output = self.run("--dry-run", config=config)
        return set(re.findall(r"(?m)^Job \d+: (.+)$", output)) - {"All of results/ is made"}

    def made(self) -> set[str]:
        """Every result, as a path below the folder of results."""
        results = self.folder / "results"
        return {str(file.relative_to(results)) for file in results.rglob("*") if file.is_file()}

    def fingerprints(self) -> dict[str, str]:
        """Every result and its content, but for what tells of times."""
        results = self.folder / "results"
        return {
            name: hashlib.sha256((results / name).read_bytes()).hexdigest()
            for name in sorted(self.made())
            if not TELLS_TIMES.match(name)
        }


def exhibits_in(jobs: Iterable[str]) -> set[str]:
    """The exhibits that jobs would make, of their messages."""
    batches = [job.removeprefix("Exhibits: ").split(", ") for job in jobs if job.startswith("Exhibits: ")]
    return {exhibit for batch in batches for exhibit in batch}


def write_own_data(path: Path, items: int = 4000) -> None:
    """Recorded answers: the more expensive a service, the more it finds."""
    rng = random.Random(7)
    names = [f"thing {number}" for number in range(15)]
    with path.open("w", encoding="utf-8") as handle:
        for number in range(items):
            truth = rng.sample(names, rng.randint(1, 3))
            answers = {}
            for rank, service in enumerate(SERVICES):
                found = [
                    [label, round(rng.uniform(0.4, 1), 3)]
                    for label in truth
                    if rng.random() < 0.5 + 0.2 * rank
                ]
                answers[service] = [*found, [rng.choice(names), round(rng.uniform(0.1, 0.7), 3)]]
            record = {"id": f"item {number}", "truth": truth, "predictions": answers}
            handle.write(json.dumps(record) + "\n")


def copied_project(root: Path, results: Path) -> Project:
    """A copy in which nothing has run, with data of its own in the folder of results."""
    for name in COPIED:
        source, target = PROJECT / name, root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(
                source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
            )
        else:
            shutil.copy(source, target)
    (root / "profiles").symlink_to("workflow/profiles")
    results.mkdir()
    write_own_data(results / "own.jsonl")
    return Project(root, results)
