"""Every key a user can set is explained twice: where it is set, and in the schema that checks it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

PROJECT = Path(__file__).parents[2]
CONFIG = (PROJECT / "config.yaml").read_text(encoding="utf-8")
SCHEMA_FILES = sorted((PROJECT / "workflow" / "schemas").glob("*.schema.yaml"))


def keys(node: yaml.Node, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:
    """Every key of the file with its line; names of datasets and services are data, written `*`."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            named = path[-1:] in (("datasets",), ("prices",), ("services",), ("topics",))
            below = (*path, "*" if named else key.value)
            if not named:
                yield below, key.start_mark.line
            yield from keys(value, below)


def first_lines() -> dict[tuple[str, ...], int]:
    found: dict[tuple[str, ...], int] = {}
    for path, line in keys(yaml.compose(CONFIG)):
        found.setdefault(path, line)
    return found


def comment_at(line: int) -> str:
    """What stands behind a key, or in the lines right above it."""
    lines = CONFIG.splitlines()
    _, _, comment = lines[line].partition(" # ")
    while line and lines[line - 1].strip().startswith("#"):
        line -= 1
        comment += lines[line]
    return comment


@pytest.mark.parametrize("path", first_lines(), ids=".".join)
def test_every_key_is_explained_where_it_first_stands(path):
    """By a comment of its own, or by its name in the comment of the block it belongs to."""
    places = first_lines()
    blocks = [comment_at(places[path[:end]]) for end in range(1, len(path)) if path[:end] in places]
    named = any(re.search(rf"\b{path[-1]}\b", comment) for comment in blocks)
    assert comment_at(places[path]) or named, f"line {places[path] + 1}: {'.'.join(path)}"


def test_every_key_of_the_schema_is_in_the_config():
    schema = yaml.safe_load(SCHEMA_FILES[0].read_text(encoding="utf-8"))
    assert set(yaml.safe_load(CONFIG)) == set(schema["properties"])
    for key in schema["$defs"]["dataset"]["properties"]:
        assert f" {key}: " in CONFIG or f" {key}:\n" in CONFIG, f"{key} is not shown in config.yaml"


def described(schema: Any, path: str = "") -> Iterator[tuple[str, dict]]:
    """Every schema of a key or definition."""
    if isinstance(schema, dict):
        for group in ("properties", "$defs"):
            for name, entry in schema.get(group, {}).items():
                # A reminder of the kind inside a condition is no definition.
                yield f"{path}/{name}", entry
        for name, entry in schema.items():
            if name not in ("if", "default", "examples"):
                yield from described(entry, f"{path}/{name}")
    elif isinstance(schema, list):
        for entry in schema:
            yield from described(entry, path)


@pytest.mark.parametrize("file", SCHEMA_FILES, ids=lambda file: file.name)
def test_every_key_of_the_schema_is_described(file):
    schema = yaml.safe_load(file.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    for path, entry in described(schema):
        assert len(entry.get("description", "")) > 10, f"{path} has no description"


def test_every_optional_key_has_a_default():
    schema = yaml.safe_load(SCHEMA_FILES[0].read_text(encoding="utf-8"))
    derived = {"budgets", "prices"}
    for block in (schema, schema["$defs"]["dataset"]):
        for key, entry in block["properties"].items():
            assert key in block["required"] or "default" in entry or key in derived, key
            if "default" in entry:
                Draft202012Validator(entry).validate(entry["default"])


def test_no_block_takes_unknown_keys():
    schema = yaml.safe_load(SCHEMA_FILES[0].read_text(encoding="utf-8"))
    for block in (schema, schema["$defs"]["dataset"], schema["$defs"]["jsonl"]):
        assert block["additionalProperties"] is False


def test_the_config_says_the_schemas_defaults():
    schema = yaml.safe_load(SCHEMA_FILES[0].read_text(encoding="utf-8"))
    config = yaml.safe_load(CONFIG)
    for key, entry in schema["properties"].items():
        if "default" in entry:
            assert config[key] == entry["default"], key
