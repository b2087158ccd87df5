"""The schema: its complaints in words, and its defaults."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from frugalmct.errors import listed
from frugalmct.paper.config.sentences import ConfigPath, fail, shown, suggestion

NAMES = ("config", "simulated")


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of that name, which the package brings along."""
    file = resources.files("frugalmct").joinpath(f"paper/config/schemas/{name}.schema.yaml")
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def resolved(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema of the configuration, or what it refers to in the same file."""
    reference = described.get("$ref", "")
    name = reference.removeprefix("#/$defs/")
    return schema("config")["$defs"][name] if reference != name else described


@cache
def _validator() -> Draft202012Validator:
    registry = Registry().with_resources(
        (f"{name}.schema.yaml", DRAFT202012.create_resource(schema(name))) for name in NAMES
    )
    return Draft202012Validator(schema("config"), registry=registry)


def check_schema(config: Any) -> None:
    """Raises the sentence about the first thing that the schema does not allow."""
    if not isinstance(config, dict):
        fail((), f"is {shown(config)}; write `key: value` lines")
    errors = sorted(_validator().iter_errors(config), key=_order)
    if errors:
        path, text = in_words(errors[0])
        fail(path, text, others=len(errors) - 1)


def _order(error: ValidationError) -> tuple[int, list[str]]:
    """Unknown and missing keys first, for they explain the rest; then the outer before the inner."""
    rank = {"additionalProperties": 0, "required": 1}.get(str(error.validator), 2)
    return rank + 3 * len(error.absolute_path), [str(part) for part in error.absolute_path]


def in_words(error: ValidationError) -> tuple[ConfigPath, str]:
    """Where and what, from one complaint of the schema."""
    path: ConfigPath = tuple(error.absolute_path)
    given, limit, keyword = error.instance, error.validator_value, str(error.validator)
    value = shown(given)
    if keyword == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in given if key not in known)
        return (*path, unknown), f"is not a key of the configuration{suggestion(unknown, known)}"
    if keyword == "required":
        missing = next(key for key in limit if key not in given)
        about = error.schema.get("properties", {}).get(missing, {}).get("description", "").rstrip(".")
        return path, f"has no '{missing}'; add it: {about[:1].lower()}{about[1:]}"
    if keyword == "type":
        return path, f"is {value}; it must be {_type_name(limit)}{_number_hint(given, limit)}"
    if keyword in ("oneOf", "anyOf"):
        return _choice_in_words(error)
    if keyword == "enum":
        return path, f"is {value}{suggestion(given, [str(choice) for choice in limit])}"
    if keyword == "pattern":
        return path, f"is {value}; it must be a word such as {listed(error.schema['examples'])}"
    return path, f"is {value}; {_LIMITS.get(keyword, _other_limit)(limit)}"


def _choice_in_words(error: ValidationError) -> tuple[ConfigPath, str]:
    """Of several forms, what is wrong with the one that was meant; or, if none was, which there are."""
    mistyped = {cause.schema_path[0] for cause in error.context or () if _is_mistyped(cause, error)}
    meant = [cause for cause in error.context or () if cause.schema_path[0] not in mistyped]
    if any(cause.validator != "const" for cause in meant):
        return in_words(min(meant, key=_order))
    words = [f"'{form['const']}'" for form in error.validator_value if "const" in form]
    types = [_type_name(form["type"]) for form in error.validator_value if "type" in form]
    return tuple(
        error.absolute_path
    ), f"is {shown(error.instance)}; it must be {' or '.join([*words, *types])}"


def _is_mistyped(cause: ValidationError, choice: ValidationError) -> bool:
    return cause.validator == "type" and cause.absolute_path == choice.absolute_path


_LIMITS: dict[str, Callable[[Any], str]] = {
    "const": lambda limit: f"it must be '{limit}'",
    "minimum": lambda limit: f"it must be at least {limit}",
    "maximum": lambda limit: f"it must be at most {limit}",
    "exclusiveMinimum": lambda limit: f"it must be more than {limit}",
    "exclusiveMaximum": lambda limit: f"it must be less than {limit}",
    "minItems": lambda limit: f"it must list at least {limit}, or be left out",
    "maxItems": lambda limit: f"it must list at most {limit}",
    "minLength": lambda _: "it must not be empty",
    "maxLength": lambda limit: f"it must have at most {limit} characters",
    "minProperties": lambda limit: f"it needs at least {limit}",
    "uniqueItems": lambda _: "something stands in it twice; list each once",
}


def _other_limit(limit: Any) -> str:
    return f"it must satisfy {shown(limit)}"


_TYPES = {
    "object": "a block of keys",
    "array": "a list such as [a, b]",
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "empty (null)",
}


def _type_name(types: str | Sequence[str]) -> str:
    return " or ".join(_TYPES[name] for name in ([types] if isinstance(types, str) else types))


def _number_hint(given: Any, wanted: Any) -> str:
    """YAML reads 1e-3 as text; so does it a number in quotes."""
    if not isinstance(given, str) or wanted not in ("number", "integer"):
        return ""
    try:
        value = float(given)
    except ValueError:
        return ""
    if not math.isfinite(value):
        return ""
    shortest = int(value) if value.is_integer() else value
    return f", without quotes and written out, as in {shortest!r}"


def with_defaults(block: Mapping[str, Any], described: Mapping[str, Any]) -> dict[str, Any]:
    """The keys in the schema's order, missing ones by their default."""
    filled = {}
    for key, entry in described["properties"].items():
        if key in block:
            # A whole number may have been written as 3.0.
            filled[key] = int(block[key]) if entry.get("type") == "integer" else block[key]
        elif "default" in entry:
            filled[key] = list(entry["default"]) if isinstance(entry["default"], list) else entry["default"]
    return filled
