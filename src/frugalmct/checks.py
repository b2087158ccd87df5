"""The door of this package: every public function turns its arguments into clean numbers here."""

import math
from collections.abc import Sequence
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.errors import FrugalError

FloatArray = NDArray[np.float64]

MIN_MONEY, MAX_MONEY = 1e-300, 1e300
"""Prices outside this range (but for 0) could overflow or vanish in sums and in accuracy per money."""

ACCURACY_NOISE = 1e-9
"""How far outside [0, 1] an estimate may lie as the rounding error of a mean."""


def number_array(where: str, name: str, value: ArrayLike, wanted: str) -> FloatArray:
    """`value` as float64; ragged, boolean, text or complex input is refused."""
    try:
        array = np.asarray(value)
    except ValueError:
        raise FrugalError(
            f"{where}: {name} has rows of unequal length; give {wanted} with equally long rows."
        ) from None
    if array.dtype.kind not in "fiu":
        raise FrugalError(f"{where}: {name} holds {array.dtype} values; give {wanted} of real numbers.")
    return array.astype(np.float64, copy=False)


def accuracy_table(where: str, value: ArrayLike, services: int | None = None) -> FloatArray:
    """An (N, K) table of accuracies in [0, 1]; N may be 0 only if the caller allows it."""
    table = number_array(where, "accuracy", value, "a table of items by services")
    if table.ndim != 2 or table.shape[1] == 0:
        raise FrugalError(
            f"{where}: accuracy has shape {table.shape}; "
            "give a table of items by services (N, K), K at least 1."
        )
    if services is not None and table.shape[1] != services:
        raise FrugalError(
            f"{where}: accuracy has {table.shape[1]} columns but costs has {services} entries; "
            "give one column and one price per service."
        )
    check_accuracy_range(where, table)
    return table


def check_accuracy_range(where: str, values: FloatArray) -> None:
    if values.size == 0:
        return
    lowest, highest = float(values.min()), float(values.max())
    if not (lowest >= -ACCURACY_NOISE and highest <= 1 + ACCURACY_NOISE):
        given = "NaN" if math.isnan(lowest) else f"values from {lowest:g} to {highest:g}"
        raise FrugalError(f"{where}: accuracy holds {given}; every value must lie between 0 and 1.")


def cost_vector(where: str, value: ArrayLike) -> FloatArray:
    """(K,) a price per service."""
    costs = number_array(where, "costs", value, "one price per service")
    if costs.ndim != 1 or costs.size == 0:
        raise FrugalError(
            f"{where}: costs has shape {costs.shape}; give a list of prices, one per service, at least one."
        )
    check_money(where, costs)
    return costs


def cost_table(where: str, value: ArrayLike) -> FloatArray:
    """(K,) a price per service, or (N, K) what each item costs at each."""
    costs = number_array(where, "costs", value, "a price per service, or a table of items by services")
    if costs.ndim != 2:
        return cost_vector(where, costs)
    if costs.shape[1] == 0:
        raise FrugalError(f"{where}: costs has shape {costs.shape}; give at least one service.")
    check_money(where, costs)
    return costs


def accuracy_and_costs(where: str, accuracy: ArrayLike, costs: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """(N, K) accuracies, N at least 1, and (K,) or (N, K) costs."""
    prices = cost_table(where, costs)
    table = accuracy_table(where, accuracy, services=prices.shape[-1])
    if table.shape[0] == 0:
        raise FrugalError(f"{where}: accuracy has no items; give at least one row.")
    check_items(where, prices, table.shape[0])
    return table, prices


def check_items(where: str, costs: FloatArray, items: int) -> None:
    if costs.ndim == 2 and costs.shape[0] != items:
        raise FrugalError(
            f"{where}: costs has shape {costs.shape}; give one price per service, or a table of {items} "
            "items by services."
        )


def check_money(where: str, costs: FloatArray) -> None:
    """That every price is one that sums of many can be made of."""
    wrong = ~((costs == 0) | ((costs >= MIN_MONEY) & (costs <= MAX_MONEY)))
    if wrong.any():
        given = costs.tolist() if costs.ndim == 1 else f"of an item {costs[wrong.any(axis=1)][0].tolist()}"
        raise FrugalError(
            f"{where}: costs are {given}; every price must be 0 or a number from {MIN_MONEY:g} to "
            f"{MAX_MONEY:g}."
        )


Base = int | Sequence[int] | None
"""The service that every item pays, several of them, or none."""


def base_services(where: str, value: object, services: int) -> Base:
    """An index of a service, a list of different ones, or None."""
    if value is None:
        return None
    if not isinstance(value, list | tuple | np.ndarray):
        return base_index(where, value, services)
    bases = tuple(base_index(where, base, services) for base in value)
    if not bases or len(set(bases)) < len(bases):
        raise FrugalError(
            f"{where}: base is {list(bases)}; give the index of a service, a list of different ones, or None."
        )
    return bases


def base_index(where: str, value: object, services: int) -> int:
    if (
        isinstance(value, bool | np.bool_)
        or not isinstance(value, Integral)
        or not 0 <= int(value) < services
    ):
        raise FrugalError(
            f"{where}: base is {value!r}; "
            f"give the index of the base service, a whole number from 0 to {services - 1}."
        )
    return int(value)


def real_number(where: str, name: str, value: object, wanted: str) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise FrugalError(f"{where}: {name} is {value!r}; give {wanted}.")
    return float(value)


def whole_number(where: str, name: str, value: object, least: int) -> int:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < least:
        raise FrugalError(f"{where}: {name} is {value!r}; give a whole number, {least} or more.")
    return int(value)
