"""Routing with answers that a file holds: what is decided of an item once the answers at hand are used."""

from collections.abc import Callable
from typing import Any

from frugalmct.errors import FrugalError
from frugalmct.live.breaker import Breaker, Patience
from frugalmct.live.calls import Call, recorded_call
from frugalmct.live.percall import PerCallRouter
from frugalmct.live.records import LedgerError
from frugalmct.live.router import Router

Decision = dict[str, Any]


class Recorded(Breaker):
    """Failures in a file tell nothing of the services now: none is left out for them, or asked again."""

    def __init__(self) -> None:
        super().__init__(Patience(timeout=None, retries=0))

    def failed(self, service: str) -> bool:
        return False


def deciding(router: Router | PerCallRouter) -> Callable[[dict[str, Any]], Decision]:
    """Decides one item. What is wrong with it is in its decision; a ledger that fails ends the command."""
    router.breaker = Recorded()

    def decide(item: dict[str, Any]) -> Decision:
        try:
            if isinstance(router, Router):
                return _decision(router, item)
            return _call_decision(router, item)
        except LedgerError:
            raise  # the next item would fare no better
        except FrugalError as error:
            cost = getattr(error, "cost", 0.0)
            return {"ask": None, "id": item.get("id"), "cost": cost, "error": str(error)}

    return decide


def _decision(router: Router, item: dict[str, Any]) -> Decision:
    answers = item.get("predictions", {})
    ticket = router.open(item)
    while ticket.ask is not None and (ticket.ask in answers or not ticket.answers):
        router.decide(ticket, {ticket.ask: answers.get(ticket.ask)})
    ask, reserved = ticket.ask, ticket.reservation
    if ask is not None and reserved is not None:
        # Whoever reads this asks the service, and pays for it.
        ticket.cost += router.money.settle(reserved)
        ticket.ask = ticket.reservation = None
    return {"ask": ask} | router.close(ticket).to_dict()


def _call_decision(router: PerCallRouter, item: dict[str, Any]) -> Decision:
    """The same where one answer stands; a call that is not among those at hand is still to be made."""
    first = {router.strategy.services[service] for service in router.plan.first}
    waiting: list[str] = []

    def ask(service: str, item: dict[str, Any]) -> Call:
        call = recorded_call(item, service)
        if call is None and service in first:
            raise LookupError("it is asked first, and its call is not in the item")
        if call is None:
            waiting.append(service)
        return call or Call(None)

    found = router.run(item, ask).to_dict()
    asked = [service for service in found["asked"] if service not in waiting]
    return {"ask": waiting[0] if waiting else None} | found | {"asked": asked}
