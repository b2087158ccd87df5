"""A real Slurm cluster of two nodes on this machine, from Debian's packages, in a folder of its own.

Nothing outside that folder is written: configuration, key, sockets, spools and logs are all in it. Neither
systemd, cgroups nor a database is needed.
"""

import getpass
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

PACKAGES = ("slurm-wlm", "munge")
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "srun", "squeue", "scontrol")
NODES = ("first", "second")
# Of a node, whatever the machine has: jobs are placed by these and nothing holds them to it.
CORES, MEGABYTES = 4, 8000
PATIENCE = 60
SYSTEM_PATH = f"{os.environ['PATH']}:/usr/sbin:/sbin"

CONFIGURATION = """\
ClusterName=tiny
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
# Two nodes on one host: %n keeps their files apart, and each has a port of its own.
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
ReturnToService=2
# Jobs that have ended stay listed for long enough to be asked about.
MinJobAge=3600
{nodes}
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name, path=SYSTEM_PATH) is None]


def obstacle() -> str | None:
    """Installs the packages where that can be done; otherwise why there can be no cluster here."""
    missing = missing_programs()
    if not missing:
        return None
    needed = f"{', '.join(missing)} of Debian's packages {' and '.join(PACKAGES)} are not installed"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return f"{needed}, and only root can install them, with apt-get"
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
        outcome = subprocess.run(
            ["apt-get", "--quiet", *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if outcome.returncode:
            return f"{needed}, and apt-get {arguments[0]} failed: {outcome.stderr.strip()[-300:]}"
    missing = missing_programs()
    return f"{', '.join(missing)} are not in Debian's packages" if missing else None


@dataclass(frozen=True)
class Cluster:
    """A cluster that runs; its commands work in its environment."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "PATH": f"{self.folder}/bin:{SYSTEM_PATH}",
            "SLURM_CONF": f"{self.folder}/slurm.conf",
        }

    def ask(self, *command: str) -> str:
        outcome = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return outcome.stdout

    def wait_until_idle(self) -> None:
        end = time.monotonic() + PATIENCE
        while self.ask("sinfo", "--noheader", "--Node", "--format=%t").split() != ["idle"] * len(NODES):
            assert time.monotonic() < end, f"no cluster after {PATIENCE} s: {self.logs()}"
            time.sleep(0.2)

    def nodes_used(self) -> set[str]:
        """The nodes on which a job has run."""
        return set(re.findall(r"\bNodeList=(\w+)", self.ask("scontrol", "--oneliner", "show", "jobs")))

    def logs(self) -> str:
        """The last words of every daemon."""
        return "\n".join(
            f"{log.name}: {log.read_text(encoding='utf-8', errors='replace')[-1000:]}"
            for log in sorted(self.folder.glob("*.log"))
        )


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(closing(socket.socket())) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def write_configuration(folder: Path) -> None:
    """Everything that the daemons expect to find."""
    host = socket.gethostname()
    controller_port, *ports = free_ports(1 + len(NODES))
    for name in ("state", "bin", *(f"spool.{node}" for node in NODES)):
        (folder / name).mkdir()
    nodes = [
        f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} "
        f"CPUs={CORES} RealMemory={MEGABYTES}"
        for node, port in zip(NODES, ports, strict=True)
    ]
    (folder / "slurm.conf").write_text(
        CONFIGURATION.format(
            host=host,
            user=getpass.getuser(),
            folder=folder,
            controller_port=controller_port,
            nodes="\n".join(nodes),
        ),
        encoding="utf-8",
    )
    key = folder / "munge.key"
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o600)
    # Inside a job the executor forgets where the configuration is.
    srun = folder / "bin" / "srun"
    real = shutil.which("srun", path=SYSTEM_PATH)
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {real} "$@"\n', encoding="utf-8")
    srun.chmod(0o755)


@contextmanager
def daemon(cluster: Cluster, name: str, *command: str) -> Iterator[subprocess.Popen]:
    """A process in a group of its own that does not outlive the block, and what it started neither."""
    with (cluster.folder / f"{name}.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            command, env=cluster.environment, stdout=log, stderr=log, start_new_session=True
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()


@contextmanager
def started_cluster(folder: Path) -> Iterator[Cluster]:
    """A controller and two nodes; on the way out jobs are cancelled and every process has ended."""
    # Munge wants its socket where everybody can reach it; its key stays unreadable.
    folder.chmod(0o755)
    write_configuration(folder)
    cluster = Cluster(folder)
    munge = [
        f"--{option}={folder}/munge.{option.split('-')[0]}" for option in ("socket", "pid-file", "seed-file")
    ]
    with ExitStack() as stack:
        stack.enter_context(
            daemon(cluster, "munged", "munged", "--foreground", f"--key-file={folder}/munge.key", *munge)
        )
        stack.enter_context(daemon(cluster, "slurmctld", "slurmctld", "-D"))
        for node in NODES:
            stack.enter_context(daemon(cluster, f"slurmd.{node}", "slurmd", "-D", "-N", node))
        cluster.wait_until_idle()
        try:
            yield cluster
        finally:
            cluster.ask("scancel", f"--user={getpass.getuser()}")
            cluster.wait_until_idle()
