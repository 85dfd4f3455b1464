"""R2. Payloads of REPLY with outcomes per item (docs/protocol.md, section 5), packed and read with a
method's codecs."""

from typing import Any, TypeVar

from mf.core.error import Code, DeclaredError, Error, Execution
from mf.core.outcome import Outcome
from mf.core.service import Method, Payload
from mf.protocol.cutting import cutting
from mf.protocol.wire import U16, U32, Violation, pack_failure, read_failure

T = TypeVar("T")

OK = 0
MIXED = 1


def pack_mixed(method: Method[Any, Any], outcomes: list[Outcome[Any]]) -> bytes:
    """The payload of a MIXED reply. Errors that the method does not declare must have been replaced by Error
    objects."""
    codes = bytearray()
    records: list[bytes] = []
    for outcome in outcomes:
        error = outcome.error
        if error is None:
            codes.append(0)
        elif isinstance(error, Error):
            codes.append(error.code)
            records.append(pack_failure(error))
        else:
            codes.append(1)
            records.append(_pack_declared(method, error))
    codes += bytes(-len(codes) % 8)
    results = method.encode_results([outcome._value for outcome in outcomes if outcome.error is None])
    return b"".join((codes, results, *records))


def _pack_declared(method: Method[Any, Any], error: DeclaredError) -> bytes:
    index = next(i for i, codec in enumerate(method.errors) if isinstance(error, codec.type))
    body = method.errors[index].encode(error)
    return U16.pack(index) + b"\0\0" + U32.pack(len(body)) + body


def read_outcomes(
    method: Method[Any, T], status: int, encoding: int, count: int, payload: Payload
) -> list[Outcome[T]]:
    """One outcome for each item, whatever the status. Raises Error(DECODE_ERROR) for an invalid payload."""
    if status == OK:
        _check_encoding(method, encoding)
        return cutting().outcomes(method.decode_results(payload, count))
    if status != MIXED:
        error = read_whole_failure(status, payload)
        return [Outcome(error=error) for _ in range(count)]
    _check_encoding(method, encoding)
    try:
        return _read_mixed(method, count, payload)
    except Violation as violation:
        raise Error(Code.DECODE_ERROR, f"reply: {violation}") from None


def _check_encoding(method: Method[Any, Any], encoding: int) -> None:
    if encoding != method.result_encoding:
        text = f"results of {method.name} came in encoding {encoding}, planned is {method.result_encoding}"
        raise Error(Code.DECODE_ERROR, text)


def read_whole_failure(status: int, payload: Payload) -> Error:
    """The failure of a call as a whole."""
    try:
        error, end = read_failure(status, payload, 0)
        if end != len(payload):
            raise Violation("failure record: bytes too many")
    except Violation as violation:
        return Error(Code.DECODE_ERROR, f"reply with status {status}: {violation}", Execution.UNKNOWN)
    return error


def _read_mixed(method: Method[Any, T], count: int, payload: Payload) -> list[Outcome[T]]:
    start = (count + 7) & ~7
    if start > len(payload):
        raise Violation(f"{count} outcomes announced in {len(payload)} bytes")
    codes = bytes(payload[:count])
    values, at = method.decode_results_at(payload, start, codes.count(0))
    remaining = iter(values)
    outcomes: list[Outcome[T]] = []
    for code in codes:
        if code == 0:
            outcomes.append(Outcome(next(remaining)))
        elif code == 1:
            declared, at = _read_declared(method, payload, at)
            outcomes.append(Outcome(error=declared))
        else:
            error, at = read_failure(code, payload, at)
            outcomes.append(Outcome(error=error))
    if at != len(payload):
        raise Violation(f"{len(payload) - at} bytes too many")
    return outcomes


def _read_declared(method: Method[Any, Any], payload: Payload, at: int) -> tuple[DeclaredError, int]:
    if at + 8 > len(payload):
        raise Violation("declared error: cut off")
    (index,) = U16.unpack_from(payload, at)
    (length,) = U32.unpack_from(payload, at + 4)
    end = at + 8 + length
    if index >= len(method.errors) or end > len(payload) or payload[at + 2] or payload[at + 3]:
        raise Violation(f"declared error {index} of {length} bytes: malformed")
    return method.errors[index].decode(payload[at + 8 : end]), end
