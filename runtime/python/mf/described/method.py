"""R8. A method of a described service: its values from JSON and to JSON, and what the runtime needs to call
it.
"""

from typing import Any

from mf.adapt.made import Made
from mf.codec import shape as s
from mf.codec.codec import Codec
from mf.codec.json import to_json
from mf.codec.method import method
from mf.core.error import Code, Error
from mf.core.outcome import Outcome
from mf.core.service import FEBIRD, MEMCPY
from mf.core.service import Method as Info
from mf.described.errors import error_codec, value_of
from mf.evolution.schema import Fields, Method
from mf.evolution.types import Named, Type
from mf.protocol.reply import MIXED, OK, read_outcomes

_NO_ARGUMENTS = "{}"


class DescribedMethod:
    """`schema`: what is known of it. `info`: for the functions of a target, as generated code has it; with
    `idempotent` set, a call that may have run is made again. Deadlines of the schema, batch sizes, caches and
    whether a method is idempotent are not described."""

    __slots__ = ("_made", "_name", "_params", "_result", "_result_fields", "info", "schema")

    def __init__(self, service: str, index: int, schema: Method, made: Made) -> None:
        self.schema = schema
        self._made = made
        self._name = f"{service}.{schema.name}"
        params = made.fields(f"{self._name}.params", schema.params)
        self._params = _explicit(self._name, params, schema.params.tier)
        results = made.fields(f"{self._name}.results", schema.results)
        self._result_fields = len(schema.results.fields)
        self._result: s.Shape | None = None
        if self._result_fields == 1:
            self._result = made.shape(schema.results.fields[0].type)
        elif self._result_fields:
            self._result = _explicit(f"{self._name}.results", results, schema.results.tier)
        self.info: Info[Any, Any] = self._method(index, params, results)

    def _method(self, index: int, params: s.Struct, results: s.Struct) -> Info[Any, Any]:
        schema, made = self.schema, self._made
        to, back = schema.params_stream, schema.results_stream
        given: dict[str, Any] = {}
        if self._result_fields:
            given["results"] = lambda: results.fields
        if self._result_fields > 1:
            given["result"] = results.type
        info = method(
            self._name,
            index,
            params.type,
            params=(lambda: params.fields) if schema.params.fields else tuple,
            request_encoding=_encoding(schema.params),
            result_encoding=_encoding(schema.results),
            oneway=schema.oneway,
            replicated=schema.replicated or None,
            param_element=None if to is None else lambda: made.shape(to),
            param_element_encoding=_element_encoding(made, to),
            result_element=None if back is None else lambda: made.shape(back),
            result_element_encoding=_element_encoding(made, back),
            **given,
        )
        info.errors = tuple(error_codec(name, self._error(name)) for name in schema.throws)
        return info

    def _error(self, name: str) -> Codec[Any, Any]:
        shape = self._made.shape(Named(name))
        assert isinstance(shape, s.Struct)  # reading has checked it
        return Codec(shape, where=name)

    # What is sent

    def arguments(self, json: str | bytes = _NO_ARGUMENTS) -> tuple[Any, ...]:
        """The arguments of a call, from an object of its parameters. Raises DecodeError, which says what is
        wrong and where."""
        request = self.request(json)
        return tuple(getattr(request, each.attribute) for each in self._params.fields)

    def request(self, json: str | bytes = _NO_ARGUMENTS) -> Any:
        """One request of a batch or bulk. Raises DecodeError."""
        return value_of(self._name, self._params, json)

    def sent(self, json: str | bytes) -> Any:
        """One value of the stream of parameters. Raises DecodeError."""
        assert self.schema.params_stream is not None, "the method has no stream of parameters"
        return value_of(self._name, self._made.shape(self.schema.params_stream), json)

    # What comes

    def result_json(self, value: Any) -> str:
        """The result of a call; `null` for a method without one."""
        return "null" if self._result is None else to_json(value, self._result)

    def result(self, json: str | bytes) -> Any:
        """What `result_json` was given: the result of a call from its JSON. Raises DecodeError."""
        return None if self._result is None else value_of(f"{self._name}.results", self._result, json)

    def received_json(self, value: Any) -> str:
        """One value of the stream of results."""
        assert self.schema.results_stream is not None, "the method has no stream of results"
        return to_json(value, self._made.shape(self.schema.results_stream))

    # What a server was sent

    def arguments_json(self, request: bytes) -> str:
        """The parameters of an encoded request of one item, as an object. Raises Error(DECODE_ERROR)."""
        return to_json(self._params.type(*self.info.decode_request(request)), self._params)

    # What was handed on unread

    def requests_json(self, payload: bytes, tier: int, items: int) -> list[str]:
        """The parameters of each call of a REQUEST with so many, without its metadata; of a stream those
        that it begins with. Raises Error(DECODE_ERROR)."""
        if tier != self.info.request_encoding:
            raise Error(Code.DECODE_ERROR, f"{self._name}: the parameters are in tier {tier}")
        of = self._params.type
        return [to_json(of(*each), self._params) for each in self.info.decode_requests(payload, items)]

    def outcomes_json(self, payload: bytes, tier: int, items: int, *, mixed: bool) -> list[Outcome[str]]:
        """How each call of a message has ended, by a REPLY that is OK or MIXED, without its metadata: with
        the JSON of its result, or a declared error or another one. Raises Error(DECODE_ERROR)."""
        outcomes = read_outcomes(self.info, MIXED if mixed else OK, tier, items, payload)
        return [
            Outcome(self.result_json(each.value())) if each.ok else Outcome(error=each.error)
            for each in outcomes
        ]

    @property
    def params(self) -> Fields:
        return self.schema.params

    def __repr__(self) -> str:
        return f"DescribedMethod({self._name!r})"


def _encoding(fields: Fields) -> int:
    return MEMCPY if fields.tier == "memcpy" else FEBIRD


def _element_encoding(made: Made, type_: Type | None) -> int:
    if type_ is None:
        return FEBIRD
    return MEMCPY if made.element("element", type_).memcpy else FEBIRD


def _explicit(name: str, shape: s.Struct, tier: str) -> s.Struct:
    """The same fields as a struct of its own, whose JSON is an object."""
    return s.Struct(name, shape.type, lambda: shape.fields, memcpy=tier == "memcpy")
