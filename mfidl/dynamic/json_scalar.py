"""F6. Scalars from their texts in JSON, in strings, as keys and as numbers; it does not know positions."""

import binascii

from mf.codec import json_text
from mf.codec.fault import Fault
from mfidl import model
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.model import Scalar

_SPECIAL = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


class WrongError(Exception):
    """An invalid scalar; the caller has its position."""

    def __init__(self, fault: Fault, reason: str) -> None:
        self.fault = fault
        self.reason = reason


def scalar_of(scalar: Scalar, text: str) -> Value:
    match scalar:
        case Scalar.STRING:
            return text
        case Scalar.BYTES:
            return base64_of(text)
        case _:
            if not json_text.is_uuid(text):
                raise WrongError(Fault.JSON_WRONG_TYPE, "a uuid has 8-4-4-4-12 hexadecimal digits")
            return bytes.fromhex(text.replace("-", ""))


def base64_of(text: str) -> bytes:
    try:
        data = binascii.a2b_base64(text)
    except (binascii.Error, ValueError):
        data = b""
    if json_text.base64_text(data)[1:-1] != text:
        raise WrongError(Fault.JSON_WRONG_TYPE, "this is not base64 with padding")
    return data


def bool_of(text: str) -> bool:
    if text not in ("true", "false"):
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is neither `true` nor `false`")
    return text == "true"


def float_in(number: Number, text: str, quoted: bool) -> float:
    if quoted and text in _SPECIAL:
        return float(_SPECIAL[text])
    if not is_number(text):
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is no number")
    value = json_text.float_from(text, single=number.scalar is Scalar.F32)
    if value in (float("inf"), float("-inf")):
        raise WrongError(
            Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in {model.spell(number.type)}"
        )
    return value


def is_number(text: str) -> bool:
    return json_text.NUMBER.fullmatch(text.encode()) is not None


def whole_of(text: str) -> int:
    """A number without a fraction; one that is too large comes out as another one that fits no type."""
    if not is_number(text):
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is no number")
    value = json_text.integer_from(text)
    if value is None:
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is not a whole number")
    return value


def moment_of(number: Number, text: str) -> int:
    """A timestamp or duration that is not written as a number."""
    if number.scalar is Scalar.TIMESTAMP:
        value, wanted = json_text.timestamp_from(text), 'a timestamp is written "2026-11-21T01:02:03.5Z"'
    else:
        value, wanted = json_text.duration_from(text), 'a duration is written "1.5s"'
    if value is None:
        raise WrongError(Fault.JSON_WRONG_TYPE, wanted)
    if value is json_text.OUT_OF_RANGE:
        raise WrongError(
            Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in {model.spell(number.type)}"
        )
    return int(value)


def in_range(number: Number, value: int, text: str) -> int:
    """`text` is what the value was made of."""
    low, high = number.limits
    if not low <= value <= high:
        raise WrongError(
            Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in {model.spell(number.type)}"
        )
    return value


def short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
