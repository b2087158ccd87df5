"""The public names of frugalmct.live."""

import subprocess
import sys

import pytest

import frugalmct.live as live


def test_every_name_is_there() -> None:
    for name in live.__all__:
        assert getattr(live, name).__name__ == name
        assert name in dir(live)
    with pytest.raises(AttributeError, match="no attribute 'Legder'"):
        _ = live.Legder


def test_sqlalchemy_is_loaded_only_for_a_ledger() -> None:
    code = (
        "import sys\nimport frugalmct.live as live\n"
        "[getattr(live, name) for name in live.__all__]\n"
        "loaded = {'sqlalchemy', 'pandas', 'matplotlib', 'yaml', 'frugalmct.paper'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
