"""The configuration: read without surprises, checked before any job starts, completed with defaults.

Whatever is wrong is told in one sentence (`FrugalError`): where, what was given, what is allowed.
"""

import gzip
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import yaml
from jsonschema import Draft202012Validator, ValidationError
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from frugalmct.errors import FrugalError, listed
from frugalmct.paper import figures_of
from frugalmct.release import (
    ANSWER_FILES,
    DEFAULT_FOLDER,
    dataset_folder,
    missing_answers,
    refuse_missing,
)

SCHEMAS = Path(__file__).parents[2] / "workflow" / "schemas"
AUTO = "auto"
MAX_DEPTH = 20
BUDGET_POINTS = 14

DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-]|[A-Za-z0-9]")
# A file can not have these names on Windows, with or without an extension.
RESERVED_NAMES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}
GZIP_START = b"\x1f\x8b"
MAX_FIRST_LINE = 2**24

ConfigPath = tuple[str | int, ...]


def validate(config: Any, schemas: Path = SCHEMAS) -> dict[str, Any]:
    """The configuration as plain data with every default filled in, or a `FrugalError`."""
    plain = _plain(config)
    _check_schema(plain, schemas)
    schema = _schema("config", schemas)
    filled = _with_defaults(plain, schema)
    _check_dataset_names(filled["datasets"])
    for key in ("case_study", "predictor_study", "solver_study", "predictor_options", "release_source"):
        filled[key] = _with_defaults(filled[key], schema["properties"][key])
    searching = schema["properties"]["predictor_options"]["properties"]
    filled["predictor_options"] = {
        predictor: _with_defaults(options, searching[predictor])
        for predictor, options in filled["predictor_options"].items()
    }
    dataset_schema = schema["$defs"]["dataset"]
    filled["datasets"] = {
        name: _with_source(name, _with_defaults(block, dataset_schema), filled)
        for name, block in filled["datasets"].items()
    }
    for name in selected_datasets(filled):
        filled["datasets"][name] = _with_answers(name, filled["datasets"][name], filled)
    filled["datasets"] = {name: _complete_dataset(name, block) for name, block in filled["datasets"].items()}
    for key in ("repeats", "seed"):
        filled[key] = int(filled[key])
    filled["predictor_study"]["repeats"] = int(filled["predictor_study"]["repeats"])
    filled["solver_study"]["items"] = [int(items) for items in filled["solver_study"]["items"]]
    _check_studies(filled, {key: entry.get("default") for key, entry in schema["properties"].items()})
    for name in selected_datasets(filled):
        _check_source_file(name, filled["datasets"][name])
    return filled


def selected_datasets(config: Mapping[str, Any]) -> list[str]:
    """The datasets to run, in the order of the configuration."""
    datasets = config["datasets"]
    for place, name in enumerate(config["only"]):
        if name not in datasets:
            _fail(("only", place), f"is {_shown(name)}, which is no dataset{_suggest(name, datasets)}")
    return [name for name in datasets if not config["only"] or name in config["only"]]


def release_folder(config: Mapping[str, Any]) -> str:
    """Where the authors' release is, or will be."""
    return config["release_dir"] or DEFAULT_FOLDER


def fetched_datasets(config: Mapping[str, Any]) -> list[str]:
    """Of the datasets to run, those in the release as a whole rather than in a folder of their own."""
    folders = {name: dataset_folder(release_folder(config), name) for name in selected_datasets(config)}
    return [
        name
        for name, folder in folders.items()
        if config["data"] == "release" and config["datasets"][name]["source"].get("path") == str(folder)
    ]


def default_budgets(prices: Mapping[str, float], base: str = AUTO) -> list[float]:
    """From the base's price alone to the dearest pair that can be asked, every service's price among them.

    Gaps are halved on a square-root scale: savings show where the budget is small.
    """
    if base == AUTO:
        start, pair = min(prices.values()), sum(sorted(prices.values())[-2:])
    else:
        start = prices[base]
        pair = start + max((price for service, price in prices.items() if service != base), default=0.0)
    end = _rounded(1.05 * pair)
    marks = sorted({start, end, *(price for price in prices.values() if start < price < end)})
    gaps = list(pairwise(marks))
    while gaps and len(marks) < BUDGET_POINTS:
        low, high = gap = max(gaps, key=lambda gap: math.sqrt(gap[1]) - math.sqrt(gap[0]))
        gaps.remove(gap)
        middle = _rounded(((math.sqrt(low) + math.sqrt(high)) / 2) ** 2)
        if low < middle < high:
            marks.append(middle)
            gaps += [(low, middle), (middle, high)]
    return sorted(marks)


def _rounded(value: float) -> float:
    """To two significant digits."""
    return float(f"{value:.1e}")


def check_yaml(path: str | Path) -> None:
    """That a config file is readable YAML with no key given twice, which YAML would silently accept.

    A file that is not there is left to Snakemake, which knows whether it needs it.
    """
    path = Path(path)
    try:
        node = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    except FileNotFoundError:
        return
    except OSError as error:
        raise FrugalError(f"{path}: can not be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise FrugalError(f"{path}: is not UTF-8 text; save it as UTF-8.") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise FrugalError(
            f"{path}{where}: is not valid YAML ({error.problem}); check indentation, brackets and quotes."
        ) from None
    except (yaml.YAMLError, RecursionError) as error:
        problem = " ".join(str(error).split())
        raise FrugalError(f"{path}: is not valid YAML ({problem}); correct it.") from None
    if not isinstance(node, yaml.MappingNode):
        raise FrugalError(f"{path}: has no keys at top level; write `key: value` lines, such as `seed: 1`.")
    for line, key in _repeated_keys(node):
        raise FrugalError(f"{path}, line {line}: the key {_shown(key)} is given twice; keep one of them.")


def _repeated_keys(top: yaml.Node) -> Iterator[tuple[int, str]]:
    waiting, seen = [top], set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            keys: set[str] = set()
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in keys:
                        yield key.start_mark.line + 1, key.value
                    keys.add(key.value)
                waiting.append(value)
        elif isinstance(node, yaml.SequenceNode):
            waiting += node.value


def _fail(path: Sequence[str | int], text: str, others: int = 0) -> NoReturn:
    """Raises the sentence about one place of the configuration."""
    more = f"; and {others} more problem{'s' if others > 1 else ''}" if others else ""
    raise FrugalError(f"config: {_where(path)} {text}{more}.")


def _where(path: Sequence[str | int]) -> str:
    """`datasets.PASCAL.prices.Google`, `only[0]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if re.fullmatch(r"[\w+-]{1,64}", part) else _shown(part)
            text += f".{name}" if text else name
    return text or "the top level"


def _shown(value: Any) -> str:
    """What was given, short and on one line."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a block of keys" if value else "an empty block"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"


def _suggest(given: Any, known: Iterable[str]) -> str:
    known = list(known)
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(str(given).casefold(), by_folded, n=1, cutoff=0.6)
    hint = f"; did you mean '{by_folded[close[0]]}'?" if close else ";"
    shown = known if len(known) <= 12 else [*known[:12], f"and {len(known) - 12} more"]
    return f"{hint} known: {listed(shown)}"


# ---- plain data: what YAML and JSON can say, and nothing that would surprise later


def _plain(value: Any, path: ConfigPath = ()) -> Any:
    """A copy made of dict, list, str, int, float, bool and None only."""
    if len(path) > MAX_DEPTH:
        _fail(path[:3], f"is nested more than {MAX_DEPTH} levels deep; flatten it")
    if isinstance(value, Mapping):
        return {_plain_key(key, path): _plain(entry, (*path, str(key))) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, (*path, place)) for place, entry in enumerate(value)]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _plain_text(str(value), path)
    if isinstance(value, int | float):
        return _plain_number(value, path)
    return _fail(path, f"is a {type(value).__name__}; write text in quotes, numbers without")


def _plain_key(key: Any, path: ConfigPath) -> str:
    if not isinstance(key, str):
        hint = "; YAML reads yes, no, on and off as true or false" if isinstance(key, bool) else ""
        _fail(path, f"has the key {_shown(key)}, which is not text; put it in quotes{hint}")
    return _plain_text(str(key), path)


def _plain_text(text: str, path: ConfigPath) -> str:
    if any("\ud800" <= character <= "\udfff" or character == "\0" for character in text):
        _fail(path, f"holds {_shown(text)}, which no file can store; use ordinary characters")
    return text


def _plain_number(value: float, path: ConfigPath) -> int | float:
    if isinstance(value, int):
        if value.bit_length() > 1000:
            _fail(path, "is a whole number of hundreds of digits; give a smaller one")
        return int(value)
    if not math.isfinite(value):
        _fail(path, f"is {value}; give a finite number")
    return float(value)


# ---- the schema, and its complaints in words


@cache
def _schema(name: str, schemas: Path) -> dict[str, Any]:
    return yaml.safe_load((schemas / f"{name}.schema.yaml").read_text(encoding="utf-8"))


@cache
def _validator(schemas: Path) -> Draft202012Validator:
    registry = Registry().with_resources(
        (path.name, DRAFT202012.create_resource(_schema(path.name.removesuffix(".schema.yaml"), schemas)))
        for path in sorted(schemas.glob("*.schema.yaml"))
    )
    return Draft202012Validator(_schema("config", schemas), registry=registry)


def _check_schema(config: Any, schemas: Path) -> None:
    if not isinstance(config, dict):
        _fail((), f"is {_shown(config)}; write `key: value` lines")
    errors = sorted(_validator(schemas).iter_errors(config), key=_order)
    if errors:
        path, text = _told(errors[0])
        _fail(path, text, others=len(errors) - 1)


def _order(error: ValidationError) -> tuple[int, list[str]]:
    """Unknown and missing keys first, for they explain the rest; then the outer before the inner."""
    rank = {"additionalProperties": 0, "required": 1}.get(str(error.validator), 2)
    return rank + 3 * len(error.absolute_path), [str(part) for part in error.absolute_path]


def _told(error: ValidationError) -> tuple[ConfigPath, str]:
    """Where and what, from one complaint of the schema."""
    path: ConfigPath = tuple(error.absolute_path)
    given, limit, keyword = error.instance, error.validator_value, str(error.validator)
    shown = _shown(given)
    if keyword == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = next(key for key in given if key not in known)
        return (*path, unknown), f"is not a key of the configuration{_suggest(unknown, known)}"
    if keyword == "required":
        missing = next(key for key in limit if key not in given)
        about = error.schema.get("properties", {}).get(missing, {}).get("description", "").rstrip(".")
        return path, f"has no '{missing}'; add it: {about[:1].lower()}{about[1:]}"
    if keyword == "type":
        return path, f"is {shown}; it must be {_type_name(limit)}{_number_hint(given, limit)}"
    if keyword in ("oneOf", "anyOf"):
        return _told_choice(error)
    if keyword == "enum":
        return path, f"is {shown}{_suggest(given, [str(choice) for choice in limit])}"
    if keyword == "pattern":
        return path, f"is {shown}; it must be a word such as {listed(error.schema['examples'])}"
    return path, f"is {shown}; {_LIMITS.get(keyword, _other_limit)(limit)}"


def _told_choice(error: ValidationError) -> tuple[ConfigPath, str]:
    """Of several forms, what is wrong with the one that was meant; or, if none was, which there are."""
    mistyped = {cause.schema_path[0] for cause in error.context or () if _is_mistyped(cause, error)}
    meant = [cause for cause in error.context or () if cause.schema_path[0] not in mistyped]
    if meant:
        return _told(min(meant, key=_order))
    forms = _type_name([form["type"] for form in error.validator_value if "type" in form])
    return tuple(error.absolute_path), f"is {_shown(error.instance)}; it must be {forms}"


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
    return f"it must satisfy {_shown(limit)}"


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
    return f", without quotes and written out, as in {value!r}" if math.isfinite(value) else ""


def _with_defaults(block: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The keys in the schema's order, missing ones by their default."""
    filled = {}
    for key, entry in schema["properties"].items():
        if key in block:
            # A whole number may have been written as 3.0.
            filled[key] = int(block[key]) if entry.get("type") == "integer" else block[key]
        elif "default" in entry:
            filled[key] = list(entry["default"]) if isinstance(entry["default"], list) else entry["default"]
    return filled


# ---- what no schema can see


def _check_dataset_names(names: Iterable[str]) -> None:
    folded: dict[str, str] = {}
    for name in names:
        if not DATASET_NAME.fullmatch(name) or name.split(".")[0].upper() in RESERVED_NAMES:
            _fail(
                ("datasets",),
                f"has the name {_shown(name)}, which is not a plain file name; use up to 64 letters, digits "
                "and _ - + . with a letter or digit first",
            )
        if name.casefold() in folded:
            _fail(
                ("datasets",),
                f"has both '{folded[name.casefold()]}' and '{name}', which are one file on many systems; "
                "rename one",
            )
        folded[name.casefold()] = name


def _with_source(name: str, block: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """With `data: release` what would be simulated of the paper's datasets is read from the release."""
    source = block["source"]
    if config["data"] == "release" and source["kind"] == "simulated" and figures_of(name):
        source = {"kind": "frugalmct", "path": str(dataset_folder(release_folder(config), name))}
    one_label = source["kind"] == "frugalml" and block["labels_per_item"] is None
    return block | {"source": source} | ({"labels_per_item": 1} if one_label else {})


def _with_answers(name: str, block: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """A released dataset without the services that lack answers, these under `dropped`; or why it can not be.

    A release that is still to be fetched is looked at when it is there.
    """
    source, path = block["source"], ("datasets", name)
    if source["kind"] not in ANSWER_FILES:
        return block
    _check_pattern((*path, "source", "path"), source["path"])
    if name in fetched_datasets(config) and not Path(release_folder(config)).is_dir():
        return block
    missing = missing_answers(source["kind"], Path(source["path"]), block["prices"], block["task"])
    if not missing:
        return block
    if config["missing_services"] == "error":
        refuse_missing({f"{name}'s {service}": files for service, files in missing.items()})
    prices = {service: price for service, price in block["prices"].items() if service not in missing}
    if not prices:
        _fail(path, f"has answers of no service in {source['path']}; get the whole release")
    if block["base"] in missing:
        _fail((*path, "base"), f"is {_shown(block['base'])}, whose answers are missing; choose another")
    dropped = {service: [str(file) for file in files] for service, files in missing.items()}
    return block | {"prices": prices, "dropped": dropped}


def _complete_dataset(name: str, block: dict[str, Any]) -> dict[str, Any]:
    """Prices and budgets as numbers of one kind, the budgets sorted, and all of it consistent."""
    path = ("datasets", name)
    prices = {service: float(price) for service, price in block["prices"].items()}
    _check_service_names(path, prices)
    base = block["base"]
    if base != AUTO and base not in prices:
        _fail((*path, "base"), f"is {_shown(base)}, which has no price{_suggest(base, [AUTO, *prices])}")
    _check_simulated_services(path, block["source"], prices)
    budgets = sorted(float(budget) for budget in block.get("budgets", default_budgets(prices, base)))
    complete = block | {"prices": prices, "budgets": budgets}
    _check_affordable((*path, "budgets"), f"has {budgets[0]:g}", budgets[0], complete)
    return complete


def _check_studies(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    """That the datasets to study exist and their budgets pay for the base.

    Defaults are let pass: nobody asked for them, and `studied` goes round those that do not fit.
    """
    datasets, selected = config["datasets"], selected_datasets(config)
    case, sizes = config["case_study"], config["training_size"]
    wanted = [(("case_study", "dataset"), ("case_study", "budget"), case["dataset"], case["budget"])]
    wanted += [(("training_size",), ("training_size", name), name, budget) for name, budget in sizes.items()]
    usual = [(*defaults["case_study"].values(),), *defaults["training_size"].items()]
    for name_path, budget_path, name, budget in wanted:
        if name not in datasets and not figures_of(name):
            _fail(name_path, f"has {_shown(name)}, which is no dataset{_suggest(name, datasets)}")
        if name in selected and (name, budget) not in usual:
            _check_affordable(budget_path, f"is {budget:g}", budget, datasets[name])


def _check_affordable(path: ConfigPath, given: str, budget: float, block: Mapping[str, Any]) -> None:
    prices, base = block["prices"], block["base"]
    cheapest = min(prices, key=lambda service: prices[service]) if base == AUTO else base
    if budget < prices[cheapest]:
        role = "the cheapest service" if base == AUTO else "the base"
        _fail(
            path,
            f"{given}, but {role} {cheapest} alone costs {prices[cheapest]:g}; a budget covers at least that",
        )


def _check_service_names(path: ConfigPath, services: Iterable[str]) -> None:
    for service in services:
        if service == AUTO:
            _fail((*path, "prices"), f"has a service named '{AUTO}', which `base` could not tell; rename it")
        if not service or service != service.strip() or not service.isprintable() or len(service) > 64:
            _fail(
                (*path, "prices"),
                f"has the service {_shown(service)}; a name is 1 to 64 characters, no blank at its ends",
            )


def _check_simulated_services(path: ConfigPath, source: Mapping[str, Any], prices: Iterable[str]) -> None:
    services = source.get("services")
    if source["kind"] == "simulated" and isinstance(services, Mapping):
        _compare_services(path, services, prices, "source.services")


def _compare_services(path: ConfigPath, found: Iterable[str], prices: Iterable[str], where: str) -> None:
    found, priced = list(found), list(prices)
    for service in found:
        if service not in priced:
            _fail((*path, "prices"), f"has no price of {_shown(service)}, which is in {where}; add it")
    for service in priced:
        if service not in found:
            _fail(
                (*path, "prices", service),
                f"is given, but {where} has no such service{_suggest(service, found)}",
            )


def _check_source_file(name: str, block: Mapping[str, Any]) -> None:
    """That an own data file is there and its first item has the services with a price."""
    if block["source"]["kind"] != "jsonl":
        return
    path, file = ("datasets", name), block["source"]["path"]
    _check_pattern((*path, "source", "path"), file)
    try:
        first = _first_item(Path(file))
    except FileNotFoundError:
        _fail((*path, "source", "path"), f"is {_shown(file)}, and there is no such file in {Path.cwd()}")
    except OSError as error:
        _fail(
            (*path, "source", "path"), f"is {_shown(file)}, which can not be read ({error.strerror or error})"
        )
    if isinstance(first, dict) and isinstance(first.get("predictions"), dict):
        _compare_services(path, first["predictions"], block["prices"], file)


def _check_pattern(path: ConfigPath, file: str) -> None:
    """Snakemake would take these for wildcards."""
    if any(character in file for character in "{}*\n"):
        _fail(path, f"is {_shown(file)}; braces, stars and line breaks can not be used")


def _first_item(path: Path) -> Any:
    """The first line of a JSON Lines file; None where it is not readable as such: its loader tells why."""
    with path.open("rb") as raw:
        packed = raw.peek(2)[:2] == GZIP_START
        with gzip.GzipFile(fileobj=raw) if packed else raw as handle:
            try:
                return json.loads(handle.readline(MAX_FIRST_LINE).decode("utf-8-sig"))
            except (ValueError, EOFError, RecursionError, gzip.BadGzipFile, gzip.zlib.error):
                return None
