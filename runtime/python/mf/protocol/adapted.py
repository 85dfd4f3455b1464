"""R2. Calls of a service whose provider has another schema than the consumer (docs/evolution.md): the names
and numbers to use, and the conversion of requests and replies.

Only the consumer adapts. A request is encoded in the consumer's schema, as usual, and converted to the
provider's when its route is known (Call.bound_to); a reply is converted to the consumer's before it is
decoded (Call.settle). So the layers above know one schema, and a call that is sent again elsewhere starts
with its original bytes.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

from mf.adapt.made import Made
from mf.adapt.transcode import Transcoder, Transcoders, shared
from mf.adapt.values import LostError
from mf.core.error import Code, Error, Execution, not_executed
from mf.core.service import Method, Payload, ServiceInfo
from mf.evolution.plan import MethodPlan, Plan, plan
from mf.evolution.rules import Verdict, reached
from mf.evolution.schema import Schema
from mf.evolution.types import SchemaError, building, short
from mf.protocol.frame import BULK, ENCODING_MASK, METADATA, Buffer
from mf.protocol.metadata import block_size
from mf.protocol.other_schema import LostItemsError, TopicValue
from mf.protocol.wire import U16, U32, Violation, pack_failure, read_failure

_OK, _MIXED = 0, 1


def _at(peer: str, words: str) -> str:
    """All that is said of an adaptation begins with the provider, where it is known."""
    return f"{peer}: {words}" if peer else words


class Adapted:
    """One method. `index`: the offset of its route from the first one of the binding. Immutable."""

    __slots__ = ("_errors", "_name", "_param", "_params", "_result", "_results", "_same_errors", "index")

    def __init__(self, service: ServiceInfo, made: MethodPlan, index: int, both: "_Both") -> None:
        self.index = index
        self._name = f"{service.short_name}.{made.name}"
        name = f"{service.name}.{made.name}"
        self._params = both.there.fields(made.params, name)
        self._results = both.back.fields(made.results, f"{name}, result")
        self._param = self._result = None
        if made.param_stream is not None:
            self._param = both.there.element(made.param_stream, f"{name}, parameter stream")
        if made.result_stream is not None:
            self._result = both.back.element(made.result_stream, f"{name}, result stream")
        self._errors: list[tuple[str, int, Transcoder] | str] = []
        assert made.theirs is not None
        for error, to in zip(made.theirs.throws, made.errors, strict=True):
            if to is None:
                self._errors.append(short(error))
            else:
                place, part = to
                self._errors.append((short(error), place, both.back.alone(part, f"{name}, {error}")))
        errors = [each[2] for each in self._errors if not isinstance(each, str)]
        for each in (self._params, self._results, self._param, self._result, *errors):
            if each is not None:
                each.prepare()
        self._same_errors = all(
            not isinstance(each, str) and each[1] == at and each[2].is_equal
            for at, each in enumerate(self._errors)
        )

    def at(self, peer: str) -> Self:
        """The same at this provider, which its failures then name."""
        made = copy(self)
        made._name = _at(peer, self._name)
        return made

    # To the provider

    def request(self, flags: int, items: int, body: Buffer) -> tuple[int, Buffer]:
        """Flags and body of a REQUEST. Raises Error, NOT_EXECUTED, for a value that the provider's schema
        does not have; of several items and of a bulk, LostItemsError."""
        params = self._params
        if params.is_equal:
            return flags, body
        block = block_size(body) if flags & METADATA else 0
        values = memoryview(body)[block:]
        try:
            made = self._sent("parameter ", lambda: params.all(values, items))
        except Error as refused:
            if not (items > 1 or flags & BULK) or refused.code is not Code.INVALID_ARGUMENT:
                raise
            lost = params.lost(values, items).items()
            each = {at: not_executed(refused.code, self._words("parameter ", why)) for at, why in lost}
            raise LostItemsError(each, refused.message) from None
        flags = (flags & ~ENCODING_MASK) | params.t_encoding
        return flags, bytes(memoryview(body)[:block]) + bytes(made) if block else made

    @property
    def param_encoding(self) -> int:
        assert self._param is not None
        return self._param.t_encoding

    def param_value(self, body: Buffer) -> Buffer:
        """One value of the parameter stream."""
        param = self._param
        assert param is not None
        return self._sent("parameter stream: ", lambda: param.one(body))

    def _sent(self, what: str, make: "Callable[[], Buffer]") -> Buffer:
        try:
            return make()
        except LostError as lost:
            raise not_executed(Code.INVALID_ARGUMENT, self._words(what, lost)) from None
        except Error as refused:
            raise not_executed(refused.code, refused.message) from None

    def _words(self, what: str, lost: LostError) -> str:
        where = lost.where()
        item = f"item {lost.item}: " if lost.item >= 0 else ""
        return f"{self._name}: {item}{what}{where}{': ' if where else ''}{lost.reason}"

    # From the provider

    @property
    def result_encoding(self) -> int:
        assert self._result is not None
        return self._result.f_encoding

    def result_values(self, payload: Payload, count: int) -> tuple[Buffer, int, Error | None]:
        """Of values of the result stream, those before the first that cannot go over, their number, and why
        that one cannot. Raises Error for bytes that are no values."""
        result = self._result
        assert result is not None
        made, number, lost = result.until_lost(payload, count)
        if lost is None:
            return made, number, None
        lost.item = -1
        return made, number, self._lost("result stream: ", lost)

    def reply(self, status: int, encoding: int, count: int, payload: Payload) -> tuple[int, int, Payload]:
        """Status, encoding and payload of a REPLY, which is OK or MIXED. Raises Error, DECODE_ERROR."""
        results = self._results
        if results.is_equal and (status == _OK or self._same_errors):
            return status, encoding, payload
        if encoding != results.f_encoding:
            text = f"{self._name}: result came in encoding {encoding}, planned is {results.f_encoding}"
            raise Error(Code.DECODE_ERROR, text, Execution.UNKNOWN)
        try:
            codes, values, records = self._read(status, count, payload)
        except Violation as violation:
            raise Error(Code.DECODE_ERROR, f"reply: {violation}", Execution.UNKNOWN) from None
        waiting, gone = iter(records), iter(values)
        kept: list[Any] = []
        texts: list[bytes] = []
        for at, code in enumerate(codes):
            if code:
                codes[at], record = next(waiting)
                texts.append(record)
                continue
            value = next(gone)
            if isinstance(value, LostError):
                codes[at] = Code.DECODE_ERROR
                texts.append(pack_failure(self._lost("result ", value)))
            else:
                kept.append(value)
        body = results.written(kept) if kept else b""
        if not texts:
            return _OK, results.t_encoding, body
        return _MIXED, results.t_encoding, b"".join((codes, bytes(-count % 8), body, *texts))

    def outcome(self, status: int, error: int, payload: Payload) -> tuple[int, int, bytes]:
        """Of one call, as replicas tell it: a code, which of the declared errors, and the bytes of a result,
        an error or a text. Raises Error, DECODE_ERROR."""
        if status == _OK:
            try:
                return status, error, bytes(self._results.one(payload))
            except LostError as lost:
                raise self._lost("result ", lost) from None
        if status != _MIXED or error >= len(self._errors):
            return status, error, bytes(payload)
        found = self._errors[error]
        if isinstance(found, str):
            text = f"{self._name}: {found} was thrown, which the client's schema does not declare"
            return int(Code.HANDLER_FAILED), 0, text.encode()
        name, place, transcoder = found
        try:
            return status, place, bytes(transcoder.one(payload))
        except LostError as lost:
            raise self._lost(f"error {name}: ", lost) from None

    def _read(
        self, status: int, count: int, payload: Payload
    ) -> "tuple[bytearray, list[Any], list[tuple[int, bytes]]]":
        if status == _OK:
            values, end = self._results.each_at(payload, 0, count)
            if end != len(payload):
                raise Violation(f"{len(payload) - end} bytes too many")
            return bytearray(count), values, []
        start = (count + 7) & ~7
        if start > len(payload):
            raise Violation(f"{count} outcomes announced in {len(payload)} bytes")
        codes = bytearray(payload[:count])
        values, at = self._results.each_at(payload, start, codes.count(0))
        records: list[tuple[int, bytes]] = []
        for code in codes:
            if code == 1:
                record, at = self._declared(payload, at)
                records.append(record)
            elif code:
                error, at = read_failure(code, payload, at)
                records.append((code, pack_failure(error)))
        if at != len(payload):
            raise Violation(f"{len(payload) - at} bytes too many")
        return codes, values, records

    def _declared(self, payload: Payload, at: int) -> tuple[tuple[int, bytes], int]:
        if at + 8 > len(payload):
            raise Violation("declared error: cut off")
        (index,) = U16.unpack_from(payload, at)
        (length,) = U32.unpack_from(payload, at + 4)
        end = at + 8 + length
        if index >= len(self._errors) or end > len(payload) or payload[at + 2] or payload[at + 3]:
            raise Violation(f"declared error {index} of {length} bytes: malformed")
        found = self._errors[index]
        if isinstance(found, str):
            text = f"{self._name}: {found} was thrown, which the client's schema does not declare"
            return (Code.HANDLER_FAILED, pack_failure(Error(Code.HANDLER_FAILED, text))), end
        name, place, transcoder = found
        try:
            body = transcoder.one(payload[at + 8 : end])
        except LostError as lost:
            return (Code.DECODE_ERROR, pack_failure(self._lost(f"error {name}: ", lost))), end
        except Error as malformed:
            return (Code.DECODE_ERROR, pack_failure(malformed)), end
        return (1, U16.pack(place) + b"\0\0" + U32.pack(len(body)) + bytes(body)), end

    def _lost(self, what: str, lost: LostError) -> Error:
        return Error(Code.DECODE_ERROR, self._words(what, lost), Execution.UNKNOWN)


class _Both:
    """The transcoders of a plan: `there` to the provider, `back` from it."""

    __slots__ = ("back", "there")

    def __init__(self, of: Plan, ours: str, theirs: str) -> None:
        pairs = reached(pair for method in of.methods for part in method.parts() for pair in part.pairs)
        if of.value is not None:
            pairs += of.value.pairs
        there = [pair for pair in pairs if of.ours.types.get(pair.f.name) is pair.f]
        back = [pair for pair in pairs if of.theirs.types.get(pair.f.name) is pair.f]
        mine, other = Made(of.ours), Made(of.theirs)
        self.there = Transcoders(mine, Made(of.theirs, shared(there, mine)), theirs, own_is_f=True)
        self.back = Transcoders(other, Made(of.ours, shared(back, other)), ours, own_is_f=False)


class Adaptation:
    """A service at a provider with this fingerprint. `names`: the provider's bound methods, in the order of
    their routes. The data for a method are made on first use. Thread-safe; two threads may make the same
    data."""

    value: TopicValue | None = None
    _peer = ""

    def __init__(self, service: ServiceInfo, made: Plan) -> None:
        self.fingerprint = made.theirs.fingerprint
        self._service = service
        self._both = _Both(made, "client's", "server's")
        self._plans = made.methods
        self._places: dict[int, int] = {}
        names: list[str] = []
        for index, method in enumerate(made.methods):
            if method.reason is None:
                assert method.theirs is not None
                self._places[index] = len(names)
                names.append(method.theirs.name)
        self.names = tuple(names)
        self._methods: dict[int, Adapted | Error] = {}
        self._here: dict[int, Adapted | Error] = {}

    def at(self, peer: str) -> Self:
        """The same at this provider, which its failures then name. It shares what was made of methods."""
        made = copy(self)
        made._peer = peer
        made._here = {}
        return made

    def method(self, method: Method[Any, Any]) -> Adapted:
        """Raises Error, NOT_EXECUTED, if it cannot be called there."""
        found = self._find(method.index)
        if isinstance(found, Error):
            raise not_executed(found.code, found.message)
        return found

    @property
    def differences(self) -> str:
        """Of the methods that cannot be called there, and why; empty if there are none."""
        return "; ".join(each.reason for each in self._plans if each.reason is not None)

    def refusal(self, method: Method[Any, Any]) -> Error | None:
        """The reason why it cannot be called there."""
        found = self._find(method.index)
        return not_executed(found.code, found.message) if isinstance(found, Error) else None

    def checks(self, method: Method[Any, Any]) -> bool:
        """Whether some of its values have no equal there, or here."""
        return self._plans[method.index].verdict is Verdict.CHECKED

    def method_of(self, name: str) -> Adapted:
        """By the consumer's name of it. Raises Error."""
        for index, each in enumerate(self._plans):
            if each.name == name:
                found = self._find(index)
                if isinstance(found, Error):
                    raise not_executed(found.code, found.message)
                return found
        raise not_executed(Code.UNKNOWN_METHOD, f"{self._service.short_name} has no method {name!r}")

    def _find(self, index: int) -> Adapted | Error:
        found = self._here.get(index)
        if found is None:
            found = self._methods.get(index)
            if found is None:
                found = self._methods[index] = self._make(self._plans[index], self._places.get(index, -1))
            if isinstance(found, Error):
                found = not_executed(found.code, _at(self._peer, found.message))
            else:
                found = found.at(self._peer)
            self._here[index] = found
        return found

    def _make(self, plan: MethodPlan, place: int) -> Adapted | Error:
        if plan.reason is not None:
            unknown = plan.verdict is Verdict.UNKNOWN_METHOD
            code = Code.UNKNOWN_METHOD if unknown else Code.SCHEMA_MISMATCH
            return not_executed(code, plan.reason)
        try:
            with building():
                return Adapted(self._service, plan, place, self._both)
        except SchemaError as wrong:  # or a default that is not a valid value
            why = str(wrong)
        return not_executed(Code.SCHEMA_MISMATCH, f"{self._service.short_name}.{plan.name}: {why}")


class TopicAdaptation:
    """A topic at a publisher with this fingerprint: the method of topics is always the same, but its messages
    differ."""

    differences = ""

    def __init__(self, service: ServiceInfo, fingerprint: bytes, value: "_TopicMessages") -> None:
        self.fingerprint = fingerprint
        self.names = tuple(method.name for method in service.methods)
        self._messages = value

    def at(self, peer: str) -> Self:
        """The same at this publisher or relay, which its failures then name."""
        made = copy(self)
        made._messages = self._messages.at(peer)
        return made

    @property
    def value(self) -> TopicValue | None:
        return self._messages

    def method(self, method: Method[Any, Any]) -> None:  # noqa: ARG002
        return None

    def refusal(self, method: Method[Any, Any]) -> None:  # noqa: ARG002
        return None

    def checks(self, method: Method[Any, Any]) -> bool:  # noqa: ARG002
        return False


class _TopicMessages:
    """The messages of a topic, from a publisher of another schema."""

    __slots__ = ("_name", "_value")

    def __init__(self, name: str, value: Transcoder) -> None:
        self._name = name
        self._value = value

    def at(self, peer: str) -> "_TopicMessages":
        return _TopicMessages(_at(peer, self._name), self._value)

    def __call__(self, payload: Payload) -> Buffer:
        """Raises Error, DECODE_ERROR."""
        try:
            return self._value.one(payload)
        except LostError as lost:
            where = lost.where()
            text = f"{self._name}: value{' ' if where else ''}{where}: {lost.reason}"
            raise Error(Code.DECODE_ERROR, text, Execution.UNKNOWN) from None


def adaptation(service: ServiceInfo, ours: Schema, theirs: Schema) -> Adaptation | TopicAdaptation:
    """Raises SchemaError with the reason if nothing can be called at all."""
    made = plan(ours, theirs)
    if made.reason is not None:
        raise SchemaError(made.reason)
    if made.value is None:
        return Adaptation(service, made)
    both = _Both(made, "subscriber's", "publisher's")
    read = both.back.alone(made.value, ours.name)
    read.prepare()
    value = _TopicMessages(ours.short, read)
    return TopicAdaptation(service, theirs.fingerprint, value)
