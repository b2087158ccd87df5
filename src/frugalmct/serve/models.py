"""What requests and replies look like: what OpenAPI describes, and the door that checks requests."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.functional_validators import AfterValidator

from frugalmct.errors import FrugalError
from frugalmct.values import MAX_TEXT, decoded_json, shown, text_fault

MOST_FEATURES = 100_000
MOST_LABELS = 10_000
MOST_SERVICES = 1_000


def _clean(text: str) -> str:
    if fault := text_fault(text):
        raise ValueError(fault)
    return text


Name = Annotated[str, Field(min_length=1, max_length=MAX_TEXT), AfterValidator(_clean)]
Answers = Annotated[
    dict[Name, Any],
    Field(
        max_length=MOST_SERVICES,
        description="by service: [label, score] pairs, scores in [0, 1]; an empty list if it saw nothing; "
        "null if the call failed. What is no such list counts as a failed call. With costs per call: "
        '{"answer": any answer, "cost": what the call cost}, and "features", the answer\'s own numbers, '
        "if the strategy learnt from some.",
        examples=[
            {"Tagger": [["billing", 0.81], ["refund", 0.3]]},
            {"gpt-4o-mini": {"answer": "It is 17.", "cost": 0.16}},
        ],
    ),
]


class Request(BaseModel):
    """Nothing is converted, and fields of other names are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class OpenRequest(Request):
    """An item to be routed."""

    id: Annotated[Name | None, Field(description="the item's name in your books", examples=["a1"])] = None
    text: Annotated[str | None, Field(examples=["my invoice is wrong"])] = None
    features: Annotated[
        list[float] | None,
        Field(max_length=MOST_FEATURES, description="the item's own numbers, as many as in training"),
    ] = None


class DecideRequest(Request):
    """What the service asked last has answered."""

    ticket: Annotated[Name, Field(examples=["5f0c9a1e7b3d2c4f6a8b0d1e"])]
    answers: Answers


class CloseRequest(Request):
    """An item that is done with; `answers` may bring the last answer along."""

    ticket: Annotated[Name, Field(examples=["5f0c9a1e7b3d2c4f6a8b0d1e"])]
    answers: Answers | None = None


class FeedbackRequest(Request):
    """True labels that came in later, or how good the answer turned out: one of the two."""

    id: Annotated[Name, Field(examples=["a1"])]
    truth: Annotated[list[Name] | None, Field(max_length=MOST_LABELS, examples=[["billing"]])] = None
    quality: Annotated[
        float | None, Field(description="in [0, 1], for answers that are no labels", examples=[1.0])
    ] = None
    answer: Annotated[
        list[Name] | None,
        Field(max_length=MOST_LABELS, description="labels answered; may be left out for recent items"),
    ] = None


class Step(BaseModel):
    """Where a ticket stands. `ask`: whom to ask now, its money is reserved; null once it can be closed."""

    ticket: Annotated[str, Field(examples=["5f0c9a1e7b3d2c4f6a8b0d1e"])]
    id: Annotated[str, Field(examples=["a1"])]
    ask: Annotated[str | None, Field(examples=["Keyword"])]
    failed: Annotated[dict[str, str], Field(description="services that failed, with the reason")] = {}


class Routed(BaseModel):
    """The combined answer of an item, what it cost in the unit of the budget, and why."""

    id: Annotated[str, Field(examples=["a1"])]
    answer: Annotated[list[list[Any]], Field(examples=[[["billing", 0.93]]])]
    asked: Annotated[list[str], Field(examples=[["Keyword", "Tagger"]])]
    cost: Annotated[float, Field(examples=[0.00041])]
    why: Annotated[str, Field(examples=["Keyword alone: accuracy 0.912 expected, and ..."])]
    expected: Annotated[float | None, Field(description="the accuracy expected", examples=[0.912])]
    failed: dict[str, str] = {}


class Standing(BaseModel):
    """With costs per call: the answer that stands, whose it is, and what all calls of the item cost."""

    id: Annotated[str, Field(examples=["a1"])]
    answer: Annotated[Any, Field(examples=["It is 17."])]
    service: Annotated[str, Field(examples=["gpt-4o-mini"])]
    asked: Annotated[list[str], Field(examples=[["gpt-4o-mini"]])]
    cost: Annotated[float, Field(description="in the unit of the budget", examples=[0.00016])]
    expected: Annotated[float | None, Field(description="the quality expected", examples=[0.912])]
    failed: dict[str, str] = {}


class Judged(BaseModel):
    """How accurate the answer was."""

    accuracy: Annotated[float, Field(examples=[1.0])]


class Failure(BaseModel):
    """Why a request was refused, in a sentence."""

    error: Annotated[str, Field(examples=["the request has no 'ticket'"])]


def read(kind: type[Request], body: bytes) -> Any:
    """The request that the body holds, or a FrugalError that says in a sentence why it is none."""
    value = decoded_json(body, "the request")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise FrugalError(_sentence(kind, error)) from None


def _sentence(kind: type[Request], error: ValidationError) -> str:
    """The first thing that is wrong: pydantic lists a fault for every type that a field might have had."""
    fault = error.errors(include_url=False, include_context=False)[0]
    if not fault["loc"]:
        return f"the request is {shown(fault['input'])}; give a JSON object with {_fields(kind)}."
    name = shown(fault["loc"][0])
    if fault["type"] == "missing":
        return f"the request has no {name}; give {_fields(kind)}."
    if fault["type"] == "extra_forbidden":
        return f"the request has a field {name}, which is not known; give {_fields(kind)}."
    reason = fault["msg"].removeprefix("Value error, ").rstrip(".")
    if fault["type"] == "value_error":  # our own words
        return f"the request's {name} {reason}."
    given = shown(fault["input"])
    return f"the request's {name} is wrong: {reason[:1].lower()}{reason[1:]}; {given} was given."


def _fields(kind: type[Request]) -> str:
    names = [f"'{name}'" for name in kind.model_fields]
    return ", ".join(names[:-1]) + f" and {names[-1]}"
