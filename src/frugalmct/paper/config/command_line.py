"""What `snakemake --config key=value` gave as text, made what it would be in a config file.

Snakemake reads 2, 0.5 and True on the command line, but leaves true, null, and whatever stands in brackets or
braces as text. In a config file a number in quotes is still a mistake.
"""

from collections.abc import Mapping
from typing import Any

import yaml

from frugalmct.paper.config.schema import resolved, schema

_TYPES: dict[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def with_command_line(config: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration, in which the part that the command line gave has the types that the schema wants."""
    return _typed(config, given, schema("config"))


def _typed(value: Any, given: Any, described: Mapping[str, Any]) -> Any:
    described = resolved(described)
    if isinstance(value, Mapping) and isinstance(given, Mapping):
        return {
            key: _typed(entry, given[key], _entry(described, key)) if key in given else entry
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_typed(entry, entry, described.get("items", {})) for entry in value]
    return _from_text(value, described) if isinstance(value, str) else value


def _entry(described: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The schema of a key; of no help where any key may stand."""
    other = described.get("additionalProperties")
    return described.get("properties", {}).get(key, other if isinstance(other, Mapping) else {})


def _from_text(text: str, described: Mapping[str, Any]) -> Any:
    """What YAML makes of the text, if the schema wants that and no text."""
    wanted = described.get("type", "string")
    wanted = [wanted] if isinstance(wanted, str) else wanted
    if "string" in wanted and text != "null":
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return text
    kinds = tuple(kind for name in wanted for kind in _TYPES.get(name, ()))
    # True is an int to Python.
    fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    return value if fits else text
