"""F6. Defaults as proto2 writes them."""

import math

from mfidl import model
from mfidl.emit.proto.names import ModuleNames


def default(value: model.Value, type_: model.Type, names: ModuleNames | None, program: model.Program) -> str:
    """The text behind `default =`; "" for values that proto2 has no default for (lists, messages).

    `names` are those of the module that declares the enum, where `type_` is a proto enum.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _float(value)
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
