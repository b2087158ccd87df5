"""The door of this package: every public function turns its arguments into clean numbers here."""

import math
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from frugalmct.errors import FrugalError

FloatArray = NDArray[np.float64]

MAX_MONEY = 1e300
"""Prices and budgets above this could overflow when summed over the items."""

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
    costs = number_array(where, "costs", value, "one price per service")
    if costs.ndim != 1 or costs.size == 0:
        raise FrugalError(
            f"{where}: costs has shape {costs.shape}; give a list of prices, one per service, at least one."
        )
    if not (costs >= 0).all() or not (costs <= MAX_MONEY).all():
        raise FrugalError(
            f"{where}: costs are {costs.tolist()}; every price must be a number from 0 to {MAX_MONEY:g}."
        )
    return costs


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
