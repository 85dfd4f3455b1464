"""F5. Types, signatures, constraints and literals as a schema writes them."""

from datetime import datetime, timedelta

from mfidl import model

_UNITS = (
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1000),
)


def type_text(type_: model.Type, module: str) -> str:
    """`list<DocId>`, `sf1.text.Document?`."""
    match type_:
        case model.Primitive():
            return model.spell(type_)
        case model.Named(full_name, _) | model.AliasOf(full_name, _):
            return full_name.removeprefix(f"{module}.") if "." in full_name else full_name
        case model.ListOf(element):
            return f"list<{type_text(element, module)}>"
        case model.ArrayOf(element, length):
            return f"array<{type_text(element, module)}, {length}>"
        case model.SetOf(element):
            return f"set<{type_text(element, module)}>"
        case model.MapOf(key, value):
            return f"map<{type_text(key, module)}, {type_text(value, module)}>"
        case model.OptionalOf(element):
            return f"{type_text(element, module)}?"
        case model.RefOf(element):
            return f"ref<{type_text(element, module)}>"


def signature(method: model.Method, module: str) -> str:
    """As the schema declares it, without annotations, defaults and constraints."""
    params = [f"{each.name}: {type_text(each.spelled, module)}" for each in method.params.fields]
    if method.param_stream is not None:
        params.append(f"{method.param_stream.name}: stream<{type_text(method.param_stream.spelled, module)}>")
    results = [f"{each.name}: {type_text(each.spelled, module)}" for each in method.results.fields]
    text = f"{method.name}({', '.join(params)})"
    if method.result_stream is not None:
        text += f" -> stream<{type_text(method.result_stream.spelled, module)}>"
    elif method.single_result:
        text += f" -> {type_text(method.results.fields[0].spelled, module)}"
    elif results:
        text += f" -> ({', '.join(results)})"
    if method.throws:
        text += f" throws {', '.join(type_text(each, module) for each in method.throws)}"
    return text


def constraint_text(constraint: model.Constraint, type_: model.Type) -> str:
    name, arguments = constraint_parts(constraint, type_)
    return f"@{name}({arguments})" if arguments else f"@{name}"


def constraint_parts(constraint: model.Constraint, type_: model.Type) -> tuple[str, str]:
    """The name, and the text in its parentheses; "" where it has none."""
    match constraint:
        case model.RangeConstraint(low, high):
            return "range", f"{_bound(low, type_)}..{_bound(high, type_)}"
        case model.LengthConstraint(low, high):
            return "length", f"{low}" if low == high else f"{low or ''}..{'' if high is None else high}"
        case model.FiniteConstraint():
            return "finite", ""
        case model.PatternConstraint(pattern):
            return "pattern", quoted(pattern)


def duration_text(nanoseconds: int) -> str:
    """With the largest unit that leaves a whole number: 1h, 250ms."""
    for unit, size in _UNITS:
        if nanoseconds and nanoseconds % size == 0:
            return f"{nanoseconds // size}{unit}"
    return f"{nanoseconds}ns" if nanoseconds else "0s"


def timestamp_text(nanoseconds: int) -> str:
    """As in RFC 3339, in UTC: 2024-02-29T12:30:45.5Z."""
    seconds, fraction = divmod(nanoseconds, 1_000_000_000)
    moment = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    digits = f".{fraction:09}".rstrip("0") if fraction else ""
    return f"{moment.isoformat()}{digits}Z"


def quoted(text: str | bytes) -> str:
    if isinstance(text, bytes):
        inner = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in text)
        return f'"{inner}"'
    return '"' + "".join(map(_character, text)) + '"'


def _character(one: str) -> str:
    plain = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\0": "\\0"}
    if one in plain:
        return plain[one]
    return one if one.isprintable() else f"\\u{{{ord(one):X}}}"


def _bound(value: int | float | None, type_: model.Type) -> str:
    if value is None:
        return ""
    if isinstance(type_, model.OptionalOf):
        type_ = type_.element
    if type_ == model.Primitive(model.Scalar.DURATION):
        return duration_text(int(value))
    if type_ == model.Primitive(model.Scalar.TIMESTAMP):
        return quoted(timestamp_text(int(value)))
    return str(value)
