"""One dataset's block: names, services, prices and budgets that fit together, and data that are there."""

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from frugalmct.paper.columns import USUAL_UNIT
from frugalmct.paper.config.budgets import default_budgets
from frugalmct.paper.config.per_call import (
    NONE,
    complete_per_call,
    has_costs,
    is_per_call,
    services_of,
)
from frugalmct.paper.config.sentences import ConfigPath, fail, shown, suggestion
from frugalmct.plans import AUTO
from frugalmct.sources.lines import GZIP_START

DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,62}[A-Za-z0-9_+-]|[A-Za-z0-9]")
# A file cannot have these names on Windows, with or without an extension.
RESERVED_NAMES = {"CON", "PRN", "AUX", "NUL", *(f"{port}{n}" for port in ("COM", "LPT") for n in range(10))}
# Snakemake takes a name with such an end for the sign of rules that call each other for ever.
ENDLESS = re.compile(r"(.+)\1{19,}$")
MAX_FIRST_LINE = 2**24


def check_dataset_names(names: Iterable[str]) -> None:
    folded: dict[str, str] = {}
    for name in names:
        if not DATASET_NAME.fullmatch(name) or name.split(".")[0].upper() in RESERVED_NAMES:
            fail(
                ("datasets",),
                f"has the name {shown(name)}, which is not a plain file name; use up to 64 letters, digits "
                "and _ - + . with a letter or digit first",
            )
        if found := ENDLESS.search(name):
            fail(
                ("datasets",),
                f"has the name {shown(name)}, whose end is {shown(found[1])} twenty times or more, which "
                "Snakemake refuses; choose a name that repeats itself less",
            )
        if name.casefold() in folded:
            fail(
                ("datasets",),
                f"has both '{folded[name.casefold()]}' and '{name}', which are one file on many systems; "
                "rename one",
            )
        folded[name.casefold()] = name


def check_needs(name: str, block: Mapping[str, Any]) -> None:
    """Only a file of one's own may do without prices, or have another base than one service."""
    path, base = ("datasets", name), block["base"]
    if block["source"]["kind"] == "jsonl":
        return
    if "prices" not in block:
        _refuse_no_prices(path)
    if base == NONE or not isinstance(base, str):
        _refuse_base(path, base)


def _refuse_no_prices(path: ConfigPath) -> NoReturn:
    fail(path, "has no 'prices'; add it: what each service costs, in USD per 10,000 calls")


def _refuse_base(path: ConfigPath, base: Any) -> NoReturn:
    fail(
        (*path, "base"),
        f"is {shown(base)}, which only a file with a quality of answers or with costs may have; give one "
        f"service, or {AUTO}",
    )


def complete_dataset(name: str, block: dict[str, Any], first: Any = None) -> dict[str, Any]:
    """Prices and budgets as numbers of one kind, the budgets sorted, and all of it consistent.

    first: the first item of a file of one's own, if it can be read.
    """
    path = ("datasets", name)
    if is_per_call(block, first):
        return complete_per_call(path, block, first)
    if "prices" not in block:
        _refuse_no_prices(path)
    if not isinstance(block["base"], str):
        _refuse_base(path, block["base"])
    if block["features"] == "text":
        fail(
            (*path, "features"),
            "is 'text', which only a file with a quality of answers or with costs may have",
        )
    prices = {service: float(price) for service, price in block["prices"].items()}
    _check_service_names(path, prices)
    if not any(prices.values()):
        fail((*path, "prices"), "are all 0; give what a call of each service costs, at least in proportion")
    base = block["base"]
    if base != AUTO and base not in prices:
        fail((*path, "base"), f"is {shown(base)}, which has no price{suggestion(base, [AUTO, *prices])}")
    _check_simulated_services(path, block["source"], prices)
    budgets = sorted(float(budget) for budget in block.get("budgets", default_budgets(prices, base)))
    unit = block["unit"] or USUAL_UNIT
    complete = block | {"prices": prices, "budgets": budgets, "per_call": False, "unit": unit}
    check_affordable((*path, "budgets"), f"has {budgets[0]:g}", budgets[0], complete)
    return complete


def check_affordable(path: ConfigPath, given: str, budget: float, block: Mapping[str, Any]) -> None:
    prices, base = block["prices"], block["base"]
    cheapest = min(prices, key=lambda service: prices[service]) if base == AUTO else base
    if budget < prices[cheapest]:
        role = "the cheapest service" if base == AUTO else "the base"
        fail(
            path,
            f"{given}, but {role} {cheapest} alone costs {prices[cheapest]:g}; a budget covers at least that",
        )


def _check_service_names(path: ConfigPath, services: Iterable[str]) -> None:
    for service in services:
        if service == AUTO:
            fail((*path, "prices"), f"has a service named '{AUTO}', which `base` could not tell; rename it")
        if not service or service != service.strip() or not service.isprintable() or len(service) > 64:
            fail(
                (*path, "prices"),
                f"has the service {shown(service)}; a name is 1 to 64 characters, no blank at its ends",
            )


def _check_simulated_services(path: ConfigPath, source: Mapping[str, Any], prices: Iterable[str]) -> None:
    services = source.get("services")
    if source["kind"] == "simulated" and isinstance(services, Mapping):
        _compare_services(path, services, prices, "source.services")


def _compare_services(path: ConfigPath, found: Iterable[str], prices: Iterable[str], where: str) -> None:
    found, priced = list(found), list(prices)
    for service in found:
        if service not in priced:
            fail((*path, "prices"), f"has no price of {shown(service)}, which is in {where}; add it")
    for service in priced:
        if service not in found:
            fail(
                (*path, "prices", service),
                f"is given, but {where} has no such service{suggestion(service, found)}",
            )


def check_source_file(name: str, block: Mapping[str, Any]) -> None:
    """That an own data file is there and its first item has the services with a price."""
    if block["source"]["kind"] != "jsonl":
        return
    path, file = ("datasets", name), block["source"]["path"]
    check_pattern((*path, "source", "path"), file)
    try:
        first = _first_item(Path(file))
    except FileNotFoundError:
        fail((*path, "source", "path"), f"is {shown(file)}, and there is no such file in {Path.cwd()}")
    except OSError as error:
        fail((*path, "source", "path"), f"is {shown(file)}, which cannot be read ({error.strerror or error})")
    if (found := services_of(first)) and (block["prices"] or not has_costs(first)):
        _compare_services(path, found, block["prices"], file)


def peeked(block: Mapping[str, Any]) -> Any:
    """The first item of a file of one's own; None if there is none that can be read."""
    if block["source"]["kind"] != "jsonl":
        return None
    try:
        return _first_item(Path(block["source"]["path"]))
    except (OSError, ValueError):
        return None


def check_pattern(path: ConfigPath, file: str) -> None:
    """Snakemake would take these for wildcards."""
    if any(character in file for character in "{}*\n"):
        fail(path, f"is {shown(file)}; braces, stars and line breaks cannot be used")


def _first_item(path: Path) -> Any:
    """The first line of a JSON Lines file; None where it is not readable as such: its loader says why."""
    with path.open("rb") as raw:
        packed = raw.peek(2)[:2] == GZIP_START
        with gzip.GzipFile(fileobj=raw) if packed else raw as handle:
            try:
                return json.loads(handle.readline(MAX_FIRST_LINE).decode("utf-8-sig"))
            except (ValueError, EOFError, RecursionError, gzip.BadGzipFile, zlib.error):
                return None
