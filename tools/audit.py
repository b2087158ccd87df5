"""Whether the locked packages have known vulnerabilities, by pip-audit; needs a network.

    make audit

Exits 0 when all were looked up and none is known, 1 when there are some, 2 when not all could be looked up.
auto-sklearn's packages are old and have known ones: they are named, and do not count.
"""

import json
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]
LOCK = "requirements.lock"
# Only auto-sklearn's own Python has these, and only searches for a model on our own data with them.
ISOLATED = ("envs/automl-build.txt", "envs/automl-requirements.txt")

Found = tuple[int, list[str], list[str]]


def audited(lock: str) -> Found | None:
    """How many packages were looked up, those with a vulnerability, those not found; None if nothing was."""
    command = [sys.executable, "-m", "pip_audit", "--disable-pip", "--require-hashes", "--format", "json"]
    outcome = subprocess.run(
        [*command, "--progress-spinner", "off", "--requirement", str(PROJECT / lock)],
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        packages = json.loads(outcome.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return None
    return summed_up(packages)


def summed_up(packages: list[dict]) -> Found:
    skipped = [package["name"] for package in packages if "skip_reason" in package]
    known = [
        f"{package['name']} {package['version']}: {', '.join(found['id'] for found in package['vulns'])}"
        for package in packages
        if package.get("vulns")
    ]
    return len(packages) - len(skipped), known, skipped


def verdict(lock: str, found: Found | None) -> tuple[int, list[str]]:
    """The exit code and the lines to print."""
    if found is None or not found[0]:
        return 2, [f"{lock}: nothing was audited: the list of vulnerabilities cannot be reached from here."]
    looked_up, known, skipped = found
    isolated = lock in ISOLATED
    lines = [f"{lock}: {looked_up} packages looked up, {len(known)} with known vulnerabilities."]
    lines += [f"  {line}" for line in known]
    if known and isolated:
        lines.append(
            "  These are in auto-sklearn's own environment alone; docs/reliability.md says what that means."
        )
    if skipped:
        lines.append(f"  Not looked up: {', '.join(skipped)}.")
    return (1 if known and not isolated else 2 if skipped else 0), lines


def main() -> int:
    codes = []
    for lock in (LOCK, *ISOLATED):
        code, lines = verdict(lock, audited(lock))
        print("\n".join(lines))
        codes.append(code)
    return 1 if 1 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())
