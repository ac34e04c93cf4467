"""Settings that refuse wrong fields in a sentence, where pydantic's own message has several lines and an address."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from linnet._arguments import did_you_mean, shown


class Model(BaseModel):
    """A pydantic model whose `refusal` of wrong fields is one line."""

    refusal: ClassVar[type[ValueError]] = ValueError

    def __init__(self, **fields: object) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise self.refusal("; ".join(sentence(problem, type(self)) for problem in error.errors())) from None


def sentence(problem: ErrorDetails, model: type[BaseModel], before: str = "") -> str:
    """The fault of one field, whose name follows `before`."""
    where = before + ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = model.model_fields
        return f"`{where}` is not a field{did_you_mean(str(problem['loc'][-1]), known)} Known are {', '.join(known)}"
    if problem["type"] == "missing":
        return f"`{where}` is missing"
    said = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "value_error":
        return f"`{where}`: {said}" if where and f"`{where}" not in said else said
    return f"`{where}`: {said[0].lower()}{said[1:]}: got {shown(problem['input'])}"
