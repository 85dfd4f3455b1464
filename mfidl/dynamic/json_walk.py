"""F6. Walks over JSON text as a schema requires: kinds of values, levels, memory, elements and members. It
knows types only by their names in messages.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.decoding import MAX_DEPTH, Limits
from mfidl.dynamic.json_scalar import WrongError
from mfidl.dynamic.json_text import JsonText
from mfidl.dynamic.schema import Schema


class JsonWalk:
    def __init__(self, schema: Schema, json: JsonText, limits: Limits) -> None:
        self._schema = schema
        self._json = json
        self._depth = 0
        self._budget = limits.decoded

    def _enter(self) -> None:
        if self._depth == MAX_DEPTH:
            raise self._json.fail(Fault.DEPTH_EXCEEDED, f"nested deeper than {MAX_DEPTH}")
        self._depth += 1

    def _charge(self, size: int) -> None:
        """Charges memory before it is taken, if the text is shorter than that."""
        self._budget -= size
        if self._budget < 0:
            raise self._json.fail(Fault.BUDGET_EXCEEDED, "the value takes more memory than a message may")

    def _kind(self, type_: model.Type, *kinds: str) -> tuple[str, int]:
        """One of these kinds of JSON value begins here; and where."""
        kind = self._json.kind()
        if kind not in kinds:
            wanted = " or ".join("`true` or `false`" if each == "bool" else _article(each) for each in kinds)
            reason = f"{_article(kind)} where {model.spell(type_)} is {wanted}"
            raise self._json.fail(Fault.JSON_WRONG_TYPE, reason)
        return kind, self._json.pos

    def _at(self, start: int, make: Callable[[], Any]) -> Any:
        """Errors of `make` refer to the value that began at `start`."""
        try:
            return make()
        except WrongError as wrong:
            raise self._json.fail(wrong.fault, wrong.reason, start) from None

    def _elements(self, element: Callable[[int], None], length: int | None, type_: model.Type) -> None:
        """An array, of which the bracket is here."""
        json = self._json
        json.expect("[")
        json.blanks()
        index = 0
        if json.peek() == ord("]"):
            json.pos += 1
        else:
            if length == 0:
                raise json.fail(Fault.WRONG_LENGTH, f"{model.spell(type_)} has no elements", json.pos)
            while True:
                json.path.steps.append(index)
                element(index)
                json.path.steps.pop()
                index += 1
                if json.expect(",", "]") == "]":
                    break
                if index == length:
                    reason = f"{model.spell(type_)} has {length} elements, here are more"
                    raise json.fail(Fault.WRONG_LENGTH, reason, json.pos - 1)
        if length is not None and index < length:
            reason = f"{model.spell(type_)} has {length} elements, not {index}"
            raise json.fail(Fault.WRONG_LENGTH, reason, json.pos - 1)

    def _members(self, member: Callable[[str, int], None], *, are_entries: bool = False) -> int:
        """An object, of which the brace is here; the offset of the closing one. Keys belong to entries."""
        json = self._json
        json.expect("{")
        json.blanks()
        if json.peek() == ord("}"):
            json.pos += 1
            return json.pos - 1
        for index in count():
            json.blanks()
            start = json.pos
            if json.peek() != ord('"'):
                json.expect('"')
            if are_entries:
                json.path.steps.append(index)
            name = json.string()
            member(name, start)
            if are_entries:
                json.path.steps.pop()
            if json.expect(",", "}") == "}":
                return json.pos - 1
        raise AssertionError("an object ends somewhere")


def _article(kind: str) -> str:
    return {"null": "null", "array": "an array", "object": "an object"}.get(kind, f"a {kind}")
