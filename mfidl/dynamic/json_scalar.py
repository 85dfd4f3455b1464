"""F6. Scalars from their texts in JSON, in strings, as keys and as numbers; it does not know positions."""

import base64
import binascii
import re
from collections.abc import Callable

from mfidl import model
from mfidl.dynamic.fault import Fault
from mfidl.dynamic.number import Number
from mfidl.dynamic.value import Value
from mfidl.model import Scalar
from mfidl.plan.json_float import float_of

NUMBER = re.compile(r"(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?", re.ASCII)
_UUID = re.compile("[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_SPECIAL = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
_MOST_DIGITS = 40  # of an exponent's reach: more cannot fit in 64 bits


class WrongError(Exception):
    """An invalid scalar; the caller knows its position."""

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
            if not _UUID.fullmatch(text):
                raise WrongError(Fault.JSON_WRONG_TYPE, "a uuid has 8-4-4-4-12 hexadecimal digits")
            return bytes.fromhex(text.replace("-", ""))


def base64_of(text: str) -> bytes:
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        data = None
    if data is None or base64.b64encode(data).decode() != text:
        raise WrongError(Fault.JSON_WRONG_TYPE, "this is not base64 with padding")
    return data


def bool_of(text: str) -> bool:
    if text not in ("true", "false"):
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is neither `true` nor `false`")
    return text == "true"


def float_in(number: Number, text: str, quoted: bool) -> float:
    if quoted and text in _SPECIAL:
        return float(_SPECIAL[text])
    if not NUMBER.fullmatch(text):
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is no number")
    value = float_of(text, single=number.scalar is Scalar.F32)
    if value in (float("inf"), float("-inf")):
        raise WrongError(
            Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in {model.spell(number.type)}"
        )
    return value


def whole_of(text: str) -> int:
    """A number without a fraction; too large ones are replaced by some number that is too large, too."""
    match = NUMBER.fullmatch(text)
    if match is None:
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is no number")
    sign, before, fraction, power = match.groups()
    digits = (before + (fraction or "")).lstrip("0")
    if not digits:
        return 0
    kept = digits.rstrip("0")
    exponent = _power(power) - len(fraction or "") + len(digits) - len(kept)
    if exponent < 0:
        raise WrongError(Fault.JSON_WRONG_TYPE, f"{short(text)} is not a whole number")
    if len(kept) + exponent > _MOST_DIGITS:
        kept, exponent = "1", _MOST_DIGITS
    value: int = int(kept) * 10**exponent
    return -value if sign else value


def _power(text: str | None) -> int:
    """An exponent; one that is too large is replaced by some large one."""
    if text is None:
        return 0
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits) if len(digits) <= 12 else 10**12
    return -value if text.startswith("-") else value


def in_range(number: Number, value: int, text: str) -> int:
    """`text` is what the value was made of."""
    low, high = number.limits
    if not low <= value <= high:
        raise WrongError(
            Fault.NUMBER_OUT_OF_RANGE, f"{short(text)} does not fit in {model.spell(number.type)}"
        )
    return value


def or_wrong_type(make: Callable[[], int]) -> int:
    try:
        return make()
    except ValueError as failure:
        raise WrongError(Fault.JSON_WRONG_TYPE, str(failure)) from None


def short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
