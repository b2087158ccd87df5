"""The services of a data file: those with a price, or those of the first item that names some."""

from collections.abc import Mapping
from typing import Any

from frugalmct.errors import listed
from frugalmct.sources.faults import Faults
from frugalmct.values import MAX_SERVICES, shown, text_fault

MAX_NAMED = 20


class Services:
    """The names, in their order, and whether an object has an entry for each."""

    def __init__(self, priced: tuple[str, ...], faults: Faults) -> None:
        self.names = priced
        self.faults = faults
        self._priced = bool(priced)
        self._line = 0
        self._set = set(priced)

    def known_from(self, what: str, value: Mapping[str, Any]) -> bool:
        """Whether services are known; if not yet, those of this object are taken as those of the file."""
        if self.names:
            return True
        services = tuple(value)
        if not services:
            self.faults.add(f"{what} name no service; name at least one.")
            return False
        if len(services) > MAX_SERVICES:
            self.faults.add(f"{what} name {len(services):,} services; at most {MAX_SERVICES:,} are allowed.")
            return False
        faults = [fault for service in services if (fault := text_fault(service))]
        for fault in faults:
            self.faults.add(f"the name of a service {fault}")
        if faults:
            return False
        self.names, self._line, self._set = services, self.faults.line, set(services)
        return True

    def compare(self, noun: str, given: Mapping[str, Any]) -> None:
        """That an object has every service and no other."""
        if given.keys() == self._set:
            return
        rule = self.rule()
        self.refuse_unknown(given)
        for service in self.names:
            if service not in given:
                self.faults.add(f"the {noun} of {shown(service)} is missing; {rule}")

    def refuse_unknown(self, given: Mapping[str, Any]) -> None:
        for service in given:
            if service not in self._set:
                self.faults.add(f"unknown service {shown(service)}; {self.rule()}")

    def rule(self) -> str:
        origin = "those with a price" if self._priced else f"those of line {self._line}"
        more = len(self.names) - MAX_NAMED
        named = listed(self.names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
        return f"the services are {origin}: {named}."
