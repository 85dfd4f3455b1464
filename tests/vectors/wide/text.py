"""JSON text of drawn values: a reading of docs/json.md of its own, with numpy for the digits of f32."""

import base64
import datetime
import uuid
from typing import Any

import numpy as np

from mfidl import model
from mfidl.model import DeclKind, Scalar
from tests.vectors.wide.draw import Graph

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_EPOCH = datetime.datetime(1970, 1, 1)


def json_text(program: model.Program, type_: model.Type, value: Any) -> str:  # noqa: C901 - a table of types
    match type_, value:
        case _, Graph(tables):
            parts = []
            for name, objects in tables:
                made = [json_text(program, model.Named(name, DeclKind.STRUCT), each) for each in objects]
                parts.append(f'"{snake(name.rpartition(".")[2])}":[{",".join(made)}]')
            return f"{{{','.join(parts)}}}"
        case _, None:
            return "null"
        case model.OptionalOf(element), _:
            return json_text(program, element, value)
        case model.RefOf(), _:
            return str(value)
        case model.Primitive(scalar), _:
            return _scalar(scalar, value)
        case ((model.ListOf(element) | model.ArrayOf(element, _) | model.SetOf(element)), _):
            return f"[{','.join(json_text(program, element, each) for each in value)}]"
        case model.MapOf(key, held), _:
            members = [f"{_key(program, key, k)}:{json_text(program, held, v)}" for k, v in value]
            return f"{{{','.join(members)}}}"
        case model.Named(_, DeclKind.ENUM), _:
            enum = program.enum(type_)
            named = [member.name for member in enum.members if member.number == value]
            return _quoted(named[0]) if named else _scalar(enum.base.scalar, value)
        case model.Named(_, DeclKind.FLAGS), _:
            return _flags(program.flags(type_), value)
        case model.Named(), bytes():  # of tier custom
            return _scalar(Scalar.BYTES, value)
        case model.Named(full_name, _), _:
            declared = program.declaration(full_name)
            if isinstance(declared, model.Union):
                chosen = next(each for each in declared.alternatives if each.name == value[0])
                return f"{{{_quoted(value[0])}:{json_text(program, chosen.type, value[1])}}}"
            assert isinstance(declared, model.Struct)
            return struct_text(program, declared, value)
        case _:
            raise AssertionError(type_)


def struct_text(program: model.Program, struct: model.Struct, value: dict[str, Any]) -> str:
    members = []
    for field in struct.fields:
        held = value[field.name]
        if held is not None or field.default is not None:
            members.append(f"{_quoted(field.name)}:{json_text(program, field.type, held)}")
    return f"{{{','.join(members)}}}"


def snake(name: str) -> str:
    """`HitList` as hit_list: the names of the vectors hold no capitals in a row."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def _key(program: model.Program, type_: model.Type, value: Any) -> str:
    text = json_text(program, type_, value)
    return text if text.startswith('"') else f'"{text}"'


def _quoted(text: str) -> str:
    made = [_ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text]
    return f'"{"".join(made)}"'


def _flags(flags: model.Flags, bits: int) -> str:
    named = sorted((member.bit, member.name) for member in flags.members if bits >> member.bit & 1)
    rest = bits & ~sum(1 << member.bit for member in flags.members)
    names = [_quoted(name) for _, name in named]
    return f"[{','.join([*names, *([_scalar(flags.base.scalar, rest)] if rest else [])])}]"


def _scalar(scalar: Scalar, value: Any) -> str:
    match scalar:
        case Scalar.BOOL:
            return "true" if value else "false"
        case Scalar.F32:
            return _float(np.float32(value))
        case Scalar.F64:
            return _float(np.float64(value))
        case Scalar.STRING:
            return _quoted(value)
        case Scalar.BYTES:
            return f'"{base64.b64encode(value).decode()}"'
        case Scalar.UUID:
            return f'"{uuid.UUID(bytes=value)}"'
        case Scalar.I64 | Scalar.U64:
            return f'"{value}"'
        case Scalar.DURATION:
            sign, rest = ("-", -value) if value < 0 else ("", value)
            return f'"{sign}{rest // 1_000_000_000}{_fraction(rest % 1_000_000_000)}s"'
        case Scalar.TIMESTAMP:
            seconds, rest = divmod(value, 1_000_000_000)
            return f'"{_EPOCH + datetime.timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}{_fraction(rest)}Z"'
        case _:
            return str(value)


def _fraction(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return ""
    digits = f"{nanoseconds:09}"
    return "." + next(digits[:n] for n in (3, 6, 9) if int(digits[n:] or "0") == 0)


def _float(number: Any) -> str:
    if not np.isfinite(number):
        return '"NaN"' if np.isnan(number) else '"Infinity"' if number > 0 else '"-Infinity"'
    text = str(np.format_float_scientific(number, unique=True, trim="-", exp_digits=2))
    in_full = -4 <= int(text.partition("e")[2]) < 16
    return str(np.format_float_positional(number, unique=True, trim="0")) if in_full else text
