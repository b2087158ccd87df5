"""Plug-ins by name: `name -> "module:attribute"`, imported only when used."""

from importlib import import_module
from typing import Any

from frugalmct.errors import FrugalError, listed


class Registry:
    """A table of plug-ins of one kind; an unknown name is answered with the known ones."""

    def __init__(self, kind: str, targets: dict[str, str]) -> None:
        self.kind = kind
        self._targets = dict(targets)

    def names(self) -> list[str]:
        return sorted(self._targets)

    def modules(self, *names: str) -> list[str]:
        """Where these plug-ins are, each module once; without names where all of them are."""
        return list(dict.fromkeys(self._target(name).split(":")[0] for name in names or self.names()))

    def register(self, name: str, target: str) -> None:
        if name in self._targets and self._targets[name] != target:
            raise FrugalError(
                f"{self.kind} '{name}' is already registered as {self._targets[name]}; choose another name."
            )
        self._targets[name] = target

    def load(self, name: str) -> Any:
        module, attribute = self._target(name).split(":")
        return getattr(import_module(module), attribute)

    def _target(self, name: str) -> str:
        if name not in self._targets:
            raise FrugalError(f"Unknown {self.kind} '{name}'; known: {listed(self.names())}.")
        return self._targets[name]
