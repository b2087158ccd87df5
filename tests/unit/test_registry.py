import sys

import pytest

from frugalmct.errors import FrugalError
from frugalmct.registry import Registry
from frugalmct.sources import SOURCES, load_market


def test_loads_what_the_name_stands_for():
    from fractions import Fraction

    assert Registry("number", {"fraction": "fractions:Fraction"}).load("fraction") is Fraction


def test_nothing_is_imported_before_use():
    sys.modules.pop("this", None)
    registry = Registry("poem", {"zen": "this:s"})
    assert registry.names() == ["zen"]
    assert "this" not in sys.modules


def test_unknown_name_is_answered_with_the_known_ones():
    registry = Registry("number", {"b": "x:y", "a": "x:y"})
    with pytest.raises(FrugalError, match="Unknown number 'c'; known: a, b"):
        registry.load("c")
    with pytest.raises(FrugalError, match=r"Unknown number 'c'; known: \(none\)"):
        Registry("number", {}).load("c")


def test_registering_adds_and_repeating_is_harmless_but_replacing_is_refused():
    registry = Registry("number", {"fraction": "fractions:Fraction"})
    registry.register("decimal", "decimal:Decimal")
    registry.register("decimal", "decimal:Decimal")
    assert registry.names() == ["decimal", "fraction"]
    with pytest.raises(FrugalError, match="'decimal' is already registered as decimal:Decimal"):
        registry.register("decimal", "fractions:Fraction")
    assert registry.load("decimal").__name__ == "Decimal"


def test_table_that_was_handed_in_is_not_changed():
    targets = {"fraction": "fractions:Fraction"}
    Registry("number", targets).register("decimal", "decimal:Decimal")
    assert list(targets) == ["fraction"]


def test_source_kinds():
    assert {"jsonl", "simulated"} <= set(SOURCES.names())
    with pytest.raises(FrugalError, match="Unknown source kind 'xml'; known: "):
        load_market("mine", {"source": {"kind": "xml"}})


@pytest.mark.parametrize("scale", [0, -1, 1.01, float("nan")])
def test_scale_must_be_a_share(scale):
    with pytest.raises(FrugalError, match="mine: scale is"):
        load_market("mine", {"source": {"kind": "jsonl"}}, scale=scale)


def test_modules_are_told_once_each_of_some_or_of_all():
    registry = Registry("number", {"b": "x:one", "a": "x:two", "c": "y:z"})
    assert registry.modules() == ["x", "y"] and registry.modules("c") == ["y"]
    assert registry.modules("c", "b", "a") == ["y", "x"]
    with pytest.raises(FrugalError, match="Unknown number 'd'; known: a, b, c"):
        registry.modules("d")
