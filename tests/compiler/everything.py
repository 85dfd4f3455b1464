"""A program, built by hand, in which every part of the model is used at least once and is not its default."""

from mfidl import model as m
from mfidl.source import SourceFile, Span

SOURCES = {
    name: SourceFile(f"/somewhere/{name}.mfidl", f"{name}.mfidl", f"module {name};\n" + "é\n" * 200)
    for name in ("base", "top")
}
_BASE, _TOP = SOURCES["base"], SOURCES["top"]
_U64, _F64, _TEXT, _RAW = (m.Primitive(m.Scalar(word)) for word in ("u64", "f64", "string", "bytes"))
_NAMES = (("cpp", "colour"), ("python", "color"))
_BIG = (1 << 64) - 1
_NOTED = (m.StructValue("base.Note", (("text", "noted"),)), m.StructValue("base.Note", ()))


def _at(file: SourceFile, start: int) -> Span:
    return Span(file, start, start + 3)


def everything() -> m.Program:
    return m.Program((_base(), _top()))


def _base() -> m.Module:
    kind = m.Enum(
        "Kind",
        "base.Kind",
        _U64,
        True,
        (
            m.EnumMember("small", 0, span=_at(_BASE, 4)),
            m.EnumMember("large", _BIG, "the largest", "too large", _NAMES, _at(_BASE, 9), _NOTED),
        ),
        "An open enum.",
        "use Kind2",
        _NAMES,
        _at(_BASE, 15),
        _NOTED,
        "Around",
    )
    sign = m.Enum("Sign", "base.Sign", m.Primitive(m.Scalar.I64), False, (m.EnumMember("minus", -(1 << 63)),))
    options = m.Flags(
        "Options",
        "base.Options",
        _U64,
        (
            m.FlagsMember("top", 63, "highest", "gone", _NAMES, _at(_BASE, 20), _NOTED),
            m.FlagsMember("low", 0),
        ),
        "Bits.",
        "use more",
        _NAMES,
        _at(_BASE, 25),
        _NOTED,
        "Around",
    )
    agent = m.Agent(
        "shard",
        "base.shard",
        kind.reference,
        m.AliasOf("base.Key", kind.reference),
        "Which.",
        "one only",
        _NAMES,
        _at(_BASE, 30),
        _NOTED,
    )
    failure = m.Struct("Failed", "base.Failed", m.StructKind.ERROR, ())
    alias = m.Alias(
        "Key",
        "base.Key",
        _U64,
        m.AliasOf("base.Other", _U64),
        "A key.",
        (m.RangeConstraint(None, _BIG),),
        "use Other",
        _NAMES,
        True,
        _at(_BASE, 40),
        _NOTED,
        "Around.Inner",
    )
    note = m.Struct(
        "Note", "base.Note", m.StructKind.ANNOTATION, (m.Field("text", _TEXT, _TEXT, default=""),)
    )
    return m.Module(
        "base",
        "lib/base.mfidl",
        False,
        agents=(agent,),
        declarations=(kind, sign, options, failure, alias),
        annotation_types=(note,),
    )


def _point() -> m.Struct:
    layout = m.Layout(16, 8, (m.FieldSlot("x", 0, 4, 4), m.FieldSlot("y", 8, 8, 8)), (m.Padding(4, 4),))
    return m.Struct(
        "Point",
        "top.Point",
        m.StructKind.STRUCT,
        (m.Field("x", m.Primitive(m.Scalar.F32), m.Primitive(m.Scalar.F32)), m.Field("y", _F64, _F64)),
        "Where.",
        m.Tier.MEMCPY,
        cpp_type=m.CppType("legacy.hpp", "legacy::Point"),
        plan=m.StructPlan(m.Tier.MEMCPY, "all its fields are", layout),
    )


def _node() -> m.Struct:
    reference = m.Named("top.Node", m.DeclKind.STRUCT)
    short = (m.LengthConstraint(0, None), m.PatternConstraint("a+"))
    types: list[m.Type] = [
        m.ListOf(_TEXT, short),
        m.ListOf(_TEXT),
        m.ArrayOf(_F64, 3, (m.RangeConstraint(-0.5, float("inf")), m.FiniteConstraint())),
        m.SetOf(_TEXT, (m.LengthConstraint(1, 8),)),
        m.MapOf(_TEXT, m.OptionalOf(_U64), short, (m.RangeConstraint(1 << 63, None),)),
        m.RefOf(reference),
        m.Named("top.Choice", m.DeclKind.UNION),
        m.Named("base.Options", m.DeclKind.FLAGS),
        *(m.Primitive(scalar) for scalar in m.Scalar),
        m.Primitive(m.Scalar.I64, m.Coding.VARINT),
        m.ListOf(m.Primitive(m.Scalar.U32, m.Coding.FIXED)),
    ]
    fields = [m.Field(f"f{index}", type_, type_, number=index + 1) for index, type_ in enumerate(types)]
    first = m.Field(
        "first",
        _U64,
        m.AliasOf("base.Key", _U64),
        "The first.",
        7,
        (m.RangeConstraint(1, 1 << 40),),
        1 << 20,
        ("old", "older"),
        "no use",
        _NAMES,
        True,
        _at(_TOP, 50),
        _NOTED,
    )
    return m.Struct(
        "Node",
        "top.Node",
        m.StructKind.STRUCT,
        (first, *fields),
        cycle=frozenset({"top.Node", "top.Choice"}),
        reserved=m.Reserved(((5, 5), (10, 20)), ("gone", "lost")),
        deprecated="",
        target_names=_NAMES,
        plan=m.StructPlan(m.Tier.ARCHIVE, "it is asked for", None),
        span=_at(_TOP, 60),
        annotations=_NOTED,
        within="Around",
    )


def _custom() -> m.Struct:
    return m.Struct(
        "Geo",
        "top.Geo",
        m.StructKind.STRUCT,
        (),
        asked_tier=m.Tier.CUSTOM,
        cpp_codec=m.CppCodec("geo.hpp", "geo::Geo", "geo::Codec"),
        python_codec=m.PythonCodec("geo", "Codec"),
        plan=m.StructPlan(m.Tier.CUSTOM, "it is asked for", None),
    )


def _choice() -> m.Union:
    node = m.Named("top.Node", m.DeclKind.STRUCT)
    return m.Union(
        "Choice",
        "top.Choice",
        (m.Field("text", _TEXT, _TEXT, number=1), m.Field("node", m.ListOf(node), m.ListOf(node), number=9)),
        "One of two.",
        m.Tier.FEBIRD,
        frozenset({"top.Node", "top.Choice"}),
        m.Reserved(((2, 8),), ("gone",)),
        "use Node",
        _NAMES,
        m.StructPlan(m.Tier.FEBIRD, "it is a union", None),
        _at(_TOP, 70),
        _NOTED,
        "Around",
    )


def _constants() -> tuple[m.Const, ...]:
    point = m.StructValue("top.Point", (("x", 1.5), ("y", float("-inf"))))
    values: list[m.Value] = [
        True,
        False,
        0,
        1,
        -1,
        _BIG,
        -(1 << 63),
        0.0,
        1.0,
        "",
        "text \u00e9\0",
        b"",
        b"\xff\x00",
        m.EnumValue("base.Kind", "large", _BIG),
        m.EnumValue("base.Sign", "minus", -(1 << 63)),
        m.FlagsValue("base.Options", ("top", "low"), (1 << 63) | 1),
        m.ListValue((1, 1, 2)),
        m.MapValue((("a", point), ("b", point))),
        point,
        m.UnionValue("top.Choice", "text", "t"),
    ]
    plain = [m.Const(f"C{index}", f"top.C{index}", _U64, _U64, value) for index, value in enumerate(values)]
    full = m.Const(
        "FULL", "top.FULL", _U64, m.AliasOf("base.Key", _U64), 5, "Full.", "no", _NAMES, _at(_TOP, 80), _NOTED
    )
    return (*plain, full)


def _implicit(method: str, which: m.StructKind, *fields: m.Field) -> m.Struct:
    return m.Struct(which.value, f"top.Index.{method}.{which.value}", which, fields)


def _service(agent: m.Agent) -> m.Service:
    value = m.Field("value", _U64, _U64)
    stream = m.Stream(
        "items",
        _TEXT,
        m.AliasOf("top.Text", _TEXT),
        (m.LengthConstraint(1, 2),),
        "One by one.",
        _at(_TOP, 90),
    )
    full = m.Method(
        "all",
        "top.Index.all",
        1,
        _implicit("all", m.StructKind.PARAMS, value),
        _implicit("all", m.StructKind.RESULTS, value),
        True,
        (m.Named("base.Failed", m.DeclKind.ERROR),),
        True,
        True,
        200_000_000,
        512,
        m.Cache(10_000, 3_600_000_000_000),
        "one_hop",
        stream,
        stream,
        True,
        ("every",),
        "Does it.",
        "do not",
        _NAMES,
        _at(_TOP, 100),
        _NOTED,
    )
    none = m.Method(
        "none",
        "top.Index.none",
        0,
        _implicit("none", m.StructKind.PARAMS),
        _implicit("none", m.StructKind.RESULTS),
        False,
        cached=m.Cache(1, None, 1 << 30, True),
    )
    return m.Service(
        "Index",
        "top.Index",
        agent,
        (none, full),
        "A service.",
        "no more",
        _NAMES,
        "service top.Index\n",
        bytes(range(16)),
        "annex top.Index\n",
        "top.Free",
        _at(_TOP, 110),
        _NOTED,
    )


def _top() -> m.Module:
    agent = _base().agents[0]
    reference = m.Named("top.Point", m.DeclKind.STRUCT)
    return m.Module(
        "top",
        "lib/top.mfidl",
        True,
        "The module.",
        (m.Import("base", "b"),),
        _constants(),
        (),
        (_point(), _node(), _choice(), _custom()),
        (m.Service("Free", "top.Free", None, ()), _service(agent)),
        (
            m.Topic(
                "Points",
                "top.Points",
                agent,
                reference,
                10,
                ("block", "drop_oldest"),
                "News.",
                "old",
                _NAMES,
                "topic top.Points\n",
                bytes(16),
                "annex top.Points\n",
                _at(_TOP, 120),
                _NOTED,
            ),
            m.Topic("Loose", "top.Loose", None, reference),
        ),
        annotations=_NOTED,
    )
