"""F6. Defaults as proto2 writes them."""

import math
import sys

from mfidl import model
from mfidl.emit.proto.names import ModuleNames
from mfidl.semantics.numbers import as_held

# The smallest number of each type that is not denormal.
_SMALLEST = {model.Scalar.F32: 2.0**-126, model.Scalar.F64: sys.float_info.min}


def default(value: model.Value, type_: model.Type, names: ModuleNames | None, program: model.Program) -> str:
    """The text after `default =`; "" for values without a default in proto2 (lists, messages), and for
    denormal numbers: Python's protobuf (upb) does not load a file with one, in whatever digits, because
    protoc writes its own into the descriptor.

    `names` are those of the module that declares the enum, where `type_` is a proto enum.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return "" if _is_denormal(value, type_) else _float(value)
        case str():
            return _quoted(value.encode("utf-8"))
        case bytes():
            return _quoted(value)
        case model.EnumValue():
            if names is None or not isinstance(type_, model.Named):
                return str(value.number)
            members = program.enum(type_).members
            return names.member(next(member for member in members if member.number == value.number))
        case model.FlagsValue():
            return str(value.bits)
        case _:
            return ""


def _is_denormal(value: float, type_: model.Type) -> bool:
    return isinstance(type_, model.Primitive) and 0 < abs(as_held(value, type_)) < _SMALLEST[type_.scalar]


def _float(value: float) -> str:
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return repr(value)


def _quoted(data: bytes) -> str:
    """Escapes all that is not plain ASCII, three octal digits each, so that no following digit joins."""
    plain = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n"}
    text = "".join(
        plain.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in data
    )
    return f'"{text}"'
