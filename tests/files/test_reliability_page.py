"""docs/reliability.md says what the tests try, and the limits that the code has."""

import re

import reliability

from frugalmct import arrays, values
from frugalmct.predict import trees
from frugalmct.sources import lines, release


def test_the_table_has_the_tests_own_numbers():
    page = reliability.PAGE.read_text(encoding="utf-8")
    assert reliability.page_with(reliability.table()) == page, "run `python tests/files/reliability.py`"


def test_the_limits_are_those_of_the_code():
    page = reliability.PAGE.read_text(encoding="utf-8")
    mib = 2**20
    for words in (
        f"{arrays.FREE_BYTES // mib} MiB and {arrays.RATIO} times its own size",
        f"{arrays.MAX_BYTES // 2**30} GiB",
        f"{arrays.MAX_ARRAYS:,} arrays",
        f"{arrays.TEXT_BYTES // mib} MiB",
        f"{values.MAX_TEXT} characters",
        f"{values.MAX_SERVICES:,} services",
        f"{values.MAX_JSON_BYTES // mib} MiB, {values.MAX_JSON_DEPTH} levels",
        f"{trees.MAX_TREES:,} trees",
        f"{lines.MAX_LINE_BYTES // mib} MiB",
        f"{lines.FREE_BYTES // mib} MiB and {lines.RATIO} times",
        f"{release.MAX_FILE_BYTES // mib} MiB",
    ):
        assert re.search(re.escape(words).replace(r"\ ", r"\s+"), page), words
