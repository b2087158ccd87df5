import os
import shutil
from collections import namedtuple

import pytest

from frugalmct.errors import FrugalError
from frugalmct.paper.jobs.disk import LEAST_FREE, check_disk

Usage = namedtuple("Usage", "total used free")


def test_a_folder_that_can_be_written_to(tmp_path):
    check_disk(tmp_path)


def test_one_that_cannot(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(FrugalError, match="results cannot be written here; run in a folder that you may"):
        check_disk(tmp_path)


def test_a_full_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(2**40, 2**40, LEAST_FREE - 2**20))
    with pytest.raises(FrugalError, match=r"the disk is full \(9.0 MB left\); free some space"):
        check_disk(tmp_path)
