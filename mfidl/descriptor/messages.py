"""F6. What each message of descriptor.proto is in the model, for both directions (record.py).

The tables of a message have each type and value once, after those that it refers to; other places hold their
numbers. An enum of base u64 has its numbers as the same 64 bits, signed.
"""

from dataclasses import replace
from typing import Any

from mfidl import model
from mfidl.descriptor import descriptor_pb2 as pb
from mfidl.descriptor.errors import DescriptorError
from mfidl.descriptor.record import BITS, PLAIN, By, Choice, Record, Way, many, word

_INT64_MAX = (1 << 63) - 1
_UNKNOWN = "is of a kind that this version does not know"

# Numbers of the tables, and other references ----------------------------------------------------------------

_TYPE = By(lambda w, type_: w.types.add(type_), lambda r, number: r.types.at(number))
_VALUE = By(lambda w, value: w.values.add(value), lambda r, number: r.values.at(number))
_TEXT = By(lambda _, text: text, lambda _, text: text or None)  # "" is none
_AGENT = By(lambda _, agent: agent.full_name, lambda r, name: r.agent(name) if name else None)
_ERROR = By(lambda _, error: error.full_name, lambda _, name: model.Named(name, model.DeclKind.ERROR))


def _annotation(r: Any, number: int) -> model.StructValue:
    value = r.values.at(number)
    if not isinstance(value, model.StructValue):
        raise DescriptorError(f"value {number} is an annotation, and no struct")
    return value


def _span(_: Any, span: Any) -> pb.Span:
    line, column = span.file.position(span.start)
    return pb.Span(start=span.start, end=span.end, line=line, column=column)


# Constraints ------------------------------------------------------------------------------------------------


class _Numbers(Choice):
    """Integers above the signed ones have a field of their own, `large`."""

    def write(self, w: Any, value: Any) -> Any:
        if type(value) is int and value > _INT64_MAX:
            return self._message(large=value)
        return super().write(w, value)


# Of the two fields for an int, the later one is written.
_NUMBER = _Numbers(
    pb.Number,
    "a bound of a range has no number",
    large=(int, PLAIN),
    integer=(int, PLAIN),
    real=(float, PLAIN),
)
_FINITE = By(lambda *_: True, lambda *_: model.FiniteConstraint())
_CONSTRAINTS = many(
    Choice(
        pb.Constraint,
        f"a constraint {_UNKNOWN}",
        range=(
            model.RangeConstraint,
            Record(pb.Range, model.RangeConstraint, {"low": _NUMBER, "high": _NUMBER}),
        ),
        length=(model.LengthConstraint, Record(pb.Length, model.LengthConstraint)),
        finite=(model.FiniteConstraint, _FINITE),
        pattern=(
            model.PatternConstraint,
            By(lambda _, each: each.pattern, lambda _, text: model.PatternConstraint(text)),
        ),
    )
)

# Types ------------------------------------------------------------------------------------------------------

_ELEMENTS: dict[str, Way] = {"element": _TYPE, "constraints": _CONSTRAINTS}
_COMPOSED = Choice(
    pb.Type,
    f"a type {_UNKNOWN}",
    named=(model.Named, Record(pb.Named, model.Named, needed=("kind",))),
    list=(model.ListOf, Record(pb.Elements, model.ListOf, _ELEMENTS)),
    set=(model.SetOf, Record(pb.Elements, model.SetOf, _ELEMENTS)),
    array=(model.ArrayOf, Record(pb.ArrayOf, model.ArrayOf, _ELEMENTS)),
    map=(
        model.MapOf,
        Record(
            pb.MapOf,
            model.MapOf,
            {
                "key": _TYPE,
                "value": _TYPE,
                "key_constraints": _CONSTRAINTS,
                "value_constraints": _CONSTRAINTS,
            },
        ),
    ),
    optional=(
        model.OptionalOf,
        By(
            lambda w, type_: w.types.add(type_.element),
            lambda r, number: model.OptionalOf(r.types.at(number)),
        ),
    ),
    ref=(model.RefOf, By(lambda w, type_: w.types.add(type_.element), lambda r, number: _ref(r, number))),
    alias=(model.AliasOf, Record(pb.AliasOf, model.AliasOf, {"target": _TYPE})),
)


def _ref(r: Any, number: int) -> model.RefOf:
    element = r.types.at(number)
    if not isinstance(element, model.Named):
        raise DescriptorError(f"type {number} is the element of a ref, and no declaration")
    return model.RefOf(element)


def _primitive(_: Any, made: model.Primitive) -> model.Primitive:
    scalar, coding = made.scalar, made.coding
    if coding is None:
        return made
    if not scalar.is_integer or scalar.bits < 32 or (coding is model.Coding.VARINT and not scalar.is_signed):
        raise DescriptorError(f"{scalar.value} has no coding of the name {coding.value}")
    return made


_PRIMITIVE = Record(pb.Type, model.Primitive, needed=("scalar",), finish=_primitive)
TYPE = By(
    lambda w, type_: (_PRIMITIVE if isinstance(type_, model.Primitive) else _COMPOSED).write(w, type_),
    lambda r, entry: (_PRIMITIVE if entry.HasField("scalar") else _COMPOSED).read(r, entry),
)
"""An entry of the table of types."""

# Values -----------------------------------------------------------------------------------------------------


def _unsigned(number: int, unsigned: bool) -> int:
    return number + (1 << 64) if unsigned and number < 0 else number


def _enum_value(r: Any, made: model.EnumValue) -> model.EnumValue:
    return replace(made, number=_unsigned(made.number, r.unsigned.get(made.enum, False)))


_FIELD_VALUE = Record(pb.FieldValue, tuple, {"value": _VALUE})
VALUE = _Numbers(
    pb.Value,
    f"a value {_UNKNOWN}",
    boolean=(bool, PLAIN),
    large=(int, PLAIN),
    integer=(int, PLAIN),
    real=(float, PLAIN),
    text=(str, PLAIN),
    raw=(bytes, PLAIN),
    enum=(model.EnumValue, Record(pb.EnumValue, model.EnumValue, {"number": BITS}, finish=_enum_value)),
    flags=(model.FlagsValue, Record(pb.FlagsValue, model.FlagsValue)),
    list=(model.ListValue, Record(pb.ListValue, model.ListValue, {"elements": many(_VALUE)})),
    map=(
        model.MapValue,
        Record(
            pb.MapValue,
            model.MapValue,
            {"entries": many(Record(pb.MapEntry, tuple, {"key": _VALUE, "value": _VALUE}))},
        ),
    ),
    struct=(model.StructValue, Record(pb.StructValue, model.StructValue, {"fields": many(_FIELD_VALUE)})),
    union=(model.UnionValue, Record(pb.UnionValue, model.UnionValue, {"value": _VALUE})),
)
"""An entry of the table of values."""

# Declarations -----------------------------------------------------------------------------------------------

_SPAN: dict[str, Way] = {"span": By(_span, lambda r, span: r.span(span))}
_OWN: dict[str, Way] = {"annotations": many(By(lambda w, value: w.values.add(value), _annotation))}
_COMMON = _SPAN | _OWN | {"target_names": many(Record(pb.TargetName, tuple))}
_TYPED: dict[str, Way] = {"type": _TYPE, "spelled": _TYPE}
_CHECKED: dict[str, Way] = {"constraints": _CONSTRAINTS}

_FIELDS = many(Record(pb.Field, model.Field, _COMMON | _TYPED | _CHECKED | {"default": _VALUE}))
_NO_RESERVED = model.Reserved()
_RESERVED = Record(pb.Reserved, model.Reserved, {"numbers": many(Record(pb.NumberRange, tuple))})
_LAYOUT = Record(
    pb.Layout,
    model.Layout,
    {"slots": many(Record(pb.Slot, model.FieldSlot)), "padding": many(Record(pb.Padding, model.Padding))},
)
_PLANNED: dict[str, Way] = {
    **_COMMON,
    "cycle": By(lambda _, names: sorted(names), lambda _, names: frozenset(names)),
    "reserved": By(
        lambda w, each: None if each == _NO_RESERVED else _RESERVED.write(w, each), _RESERVED.read
    ),
    "plan": Record(pb.Plan, model.StructPlan, {"layout": _LAYOUT}, needed=("tier",)),
}
_NEEDED = ("reserved", "plan")
_STRUCT = Record(
    pb.Struct,
    model.Struct,
    _PLANNED
    | {
        "fields": _FIELDS,
        "cpp_codec": Record(pb.CppCodec, model.CppCodec),
        "python_codec": Record(pb.PythonCodec, model.PythonCodec),
        "cpp_type": Record(pb.CppType, model.CppType),
    },
    needed=(*_NEEDED, "kind"),
)
_UNION = Record(pb.Union, model.Union, _PLANNED | {"alternatives": _FIELDS}, needed=_NEEDED)


def _enum(_: Any, made: model.Enum) -> model.Enum:
    if made.base.scalar is not model.Scalar.U64:
        return made
    return replace(
        made, members=tuple(replace(each, number=_unsigned(each.number, True)) for each in made.members)
    )


_SCALAR = word(pb.Scalar)
_NUMBERED: dict[str, Way] = {
    **_COMMON,
    "base": By(
        lambda w, base: _SCALAR.write(w, base.scalar),
        lambda r, number: model.Primitive(_SCALAR.read(r, number)),
    ),
}
_ENUM = Record(
    pb.Enum,
    model.Enum,
    _NUMBERED | {"members": many(Record(pb.EnumMember, model.EnumMember, _COMMON | {"number": BITS}))},
    needed=("base",),
    finish=_enum,
)
_FLAGS = Record(
    pb.Flags,
    model.Flags,
    _NUMBERED | {"members": many(Record(pb.FlagsMember, model.FlagsMember, _COMMON))},
    needed=("base",),
)
_DECLARATION = Choice(
    pb.Declaration,
    f"a declaration {_UNKNOWN}",
    struct=(model.Struct, _STRUCT),
    union=(model.Union, _UNION),
    enum=(model.Enum, _ENUM),
    flags=(model.Flags, _FLAGS),
    alias=(model.Alias, Record(pb.Alias, model.Alias, _COMMON | _TYPED | _CHECKED)),
)

# Services, topics and modules -------------------------------------------------------------------------------


def _agent(r: Any, made: model.Agent) -> model.Agent:
    r.agents[made.full_name] = made
    return made


def _service(r: Any, made: model.Service) -> model.Service:
    """With the methods of the service that it extends, which are the first of its own."""
    if made.extends is not None:
        if made.extends not in r.services:
            raise DescriptorError(f"service `{made.extends}` is not declared before its use")
        inherited = r.services[made.extends].methods
        first, own = made.methods[: len(inherited)], made.methods[len(inherited) :]
        if [each.full_name for each in inherited] != [each.full_name for each in first]:
            raise DescriptorError(f"service `{made.full_name}` lacks methods of `{made.extends}`")
        made = replace(made, methods=(*inherited, *own))
    r.services[made.full_name] = made
    return made


def _topic(_: Any, made: model.Topic) -> model.Topic:
    if not isinstance(made.type, model.Named):
        raise DescriptorError(f"the type of topic `{made.full_name}` is not a declared one")
    overflow = {*made.overflow}
    if not overflow or len(overflow) < len(made.overflow) or not overflow <= {*model.OVERFLOWS}:
        raise DescriptorError(f"topic `{made.full_name}` has overflow policies that are not ours")
    return made


_STREAM = Record(pb.Stream, model.Stream, _SPAN | _TYPED | _CHECKED)
_METHOD = Record(
    pb.Method,
    model.Method,
    _COMMON
    | {
        "params": _STRUCT,
        "results": _STRUCT,
        "throws": many(_ERROR),
        "cached": Record(pb.Cache, model.Cache),
        "param_stream": _STREAM,
        "result_stream": _STREAM,
    },
    needed=("params", "results"),
)
_SERVICE = Record(
    pb.Service,
    model.Service,
    _COMMON | {"agent": _AGENT, "methods": many(_METHOD), "extends": _TEXT},
    finish=_service,
)
MODULE = Record(
    pb.Module,
    model.Module,
    _OWN
    | {
        "imports": many(Record(pb.Import, model.Import)),
        "constants": many(Record(pb.Const, model.Const, _COMMON | _TYPED | {"value": _VALUE})),
        "agents": many(Record(pb.Agent, model.Agent, _COMMON | _TYPED, finish=_agent)),
        "declarations": many(_DECLARATION),
        "services": many(_SERVICE),
        "topics": many(
            Record(pb.Topic, model.Topic, _COMMON | {"agent": _AGENT, "type": _TYPE}, finish=_topic)
        ),
        "annotation_types": many(_STRUCT),
    },
)
