"""Writes the same declarations in four languages, with lists of bytes and of lists, which all of them
have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from compiler.schema import Declaration, Enum, Service, Struct, Type, documented

_PROTO = {"i32": "sint32", "i64": "sint64", "u32": "uint32", "u64": "uint64", "f32": "float", "f64": "double"}
_CAPNP = {
    "bool": "Bool",
    "i32": "Int32",
    "i64": "Int64",
    "u32": "UInt32",
    "u64": "UInt64",
    "f32": "Float32",
    "f64": "Float64",
    "string": "Text",
    "bytes": "Data",
}
_FLAT = {"i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64", "f32": "float32", "f64": "float64"}


def mfidl(declarations: Sequence[Declaration]) -> str:
    return _document("module bench;", declarations, _mfidl)


def proto(declarations: Sequence[Declaration]) -> str:
    return _document('syntax = "proto3";\npackage bench;', declarations, _proto)


def capnp(declarations: Sequence[Declaration]) -> str:
    head = '@0xd4e8f3a1b2c5d6e7;\nusing Cxx = import "/capnp/c++.capnp";\n$Cxx.namespace("bench");'
    return _document(head, declarations, _capnp)


def flatbuffers(declarations: Sequence[Declaration]) -> str:
    return _document("namespace bench;", declarations, _flat, "table Bytes { data: [ubyte]; }")


def _document(
    head: str, declarations: Iterable[Declaration], write: Callable[[Declaration], Iterable[str]], *more: str
) -> str:
    parts = [head, *more, *("\n".join(write(each)) for each in declarations)]
    return "\n\n".join(parts) + "\n"


def _mfidl(each: Declaration) -> Iterable[str]:
    yield f"/// {each.doc}"
    if isinstance(each, Enum):
        yield f"enum {each.name}: u8 {{"
        yield from (f"  {value} = {number}," for number, value in enumerate(each.values))
    elif isinstance(each, Struct):
        yield f"struct {each.name} {{"
        for number, field in enumerate(each.fields):
            if documented(number):
                yield f"  /// {field.doc}"
            yield f"  {field.name}: {_listed(field.type, field.type.name, 'list<{}>')};"
    else:
        yield f"service {each.name} {{"
        for method in each.methods:
            yield f"  /// {method.doc}"
            yield f"  {method.name}(request: {method.request}) -> {method.result};"
    yield "}"


def _proto(each: Declaration) -> Iterable[str]:
    yield f"// {each.doc}"
    if isinstance(each, Enum):
        yield f"enum {each.name} {{"
        yield from (f"  {each.name}_{value} = {number};" for number, value in enumerate(each.values))
    elif isinstance(each, Struct):
        yield f"message {each.name} {{"
        for number, field in enumerate(each.fields):
            if documented(number):
                yield f"  // {field.doc}"
            name = _PROTO.get(field.type.name, field.type.name)
            yield f"  {_listed(field.type, name, 'repeated {}')} {field.name} = {number + 1};"
    else:
        yield f"service {each.name} {{"
        for method in each.methods:
            yield f"  // {method.doc}"
            yield f"  rpc {_camel(method.name, True)}({method.request}) returns ({method.result});"
    yield "}"


def _capnp(each: Declaration) -> Iterable[str]:
    if isinstance(each, Enum):
        yield f"enum {each.name} {{  # {each.doc}"
        yield from (f"  {value} @{number};" for number, value in enumerate(each.values))
    elif isinstance(each, Struct):
        yield f"struct {each.name} {{  # {each.doc}"
        for number, field in enumerate(each.fields):
            name = _CAPNP.get(field.type.name, field.type.name)
            comment = f"  # {field.doc}" if documented(number) else ""
            yield f"  {field.name} @{number} :{_listed(field.type, name, 'List({})')};{comment}"
    else:
        yield f"interface {each.name} {{  # {each.doc}"
        for number, method in enumerate(each.methods):
            signature = f"(request :{method.request}) -> (result :{method.result})"
            yield f"  {_camel(method.name, False)} @{number} {signature};  # {method.doc}"
    yield "}"


def _flat(each: Declaration) -> Iterable[str]:
    yield f"/// {each.doc}"
    if isinstance(each, Enum):
        yield f"enum {each.name}: ubyte {{"
        yield from (f"  {value} = {number}," for number, value in enumerate(each.values))
    elif isinstance(each, Struct):
        yield f"table {each.name} {{"
        for number, field in enumerate(each.fields):
            if documented(number):
                yield f"  /// {field.doc}"
            yield f"  {field.name}: {_flat_type(field.type)};"
    elif isinstance(each, Service):
        yield f"rpc_service {each.name} {{"
        for method in each.methods:
            yield f"  /// {method.doc}"
            yield f"  {_camel(method.name, True)}({method.request}): {method.result};"
    yield "}"


def _flat_type(type_: Type) -> str:
    if type_.name == "bytes":
        return "[Bytes]" if type_.many else "[ubyte]"
    return _listed(type_, _FLAT.get(type_.name, type_.name), "[{}]")


def _listed(type_: Type, name: str, pattern: str) -> str:
    return pattern.format(name) if type_.many else name


def _camel(name: str, upper: bool) -> str:
    words = "".join(word.capitalize() for word in name.split("_"))
    return words if upper else words[0].lower() + words[1:]
