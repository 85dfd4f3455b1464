"""F6. Files of protobuf as drafts, made of the descriptors that protoc gives for them (docs/import.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
    MethodOptions,
    ServiceDescriptorProto,
    SourceCodeInfo,
)

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import Builtin, Ref
from mfidl.foreign.places import Places
from mfidl.foreign.proto_bytes import refused_bytes
from mfidl.foreign.proto_defaults import Known, Unresolved, default_of, zero_of
from mfidl.source import Span

_F = FieldDescriptorProto
_SCALARS = {
    _F.TYPE_DOUBLE: "f64",
    _F.TYPE_FLOAT: "f32",
    _F.TYPE_INT64: "i64",
    _F.TYPE_UINT64: "u64",
    _F.TYPE_INT32: "i32",
    _F.TYPE_FIXED64: "u64",
    _F.TYPE_FIXED32: "u32",
    _F.TYPE_BOOL: "bool",
    _F.TYPE_STRING: "string",
    _F.TYPE_BYTES: "bytes",
    _F.TYPE_UINT32: "u32",
    _F.TYPE_SFIXED32: "i32",
    _F.TYPE_SFIXED64: "i64",
    _F.TYPE_SINT32: "i32",
    _F.TYPE_SINT64: "i64",
}
# In protobuf's own codings, where they are not those that an archive has anyway.
_CODED = {
    _F.TYPE_INT32: "i32.varint",
    _F.TYPE_INT64: "i64.varint",
    _F.TYPE_FIXED32: "u32.fixed",
    _F.TYPE_FIXED64: "u64.fixed",
    _F.TYPE_SFIXED32: "i32.fixed",
    _F.TYPE_SFIXED64: "i64.fixed",
}
_OWN = ".google.protobuf."
_EMPTY = _OWN + "Empty"
_WRAPPED = {
    "Double": "f64",
    "Float": "f32",
    "Int64": "i64",
    "UInt64": "u64",
    "Int32": "i32",
    "UInt32": "u32",
    "Bool": "bool",
    "String": "string",
    "Bytes": "bytes",
}
_KNOWN: dict[str, draft.Type] = {
    _OWN + "Timestamp": Builtin("timestamp"),
    _OWN + "Duration": Builtin("duration"),
    **{f"{_OWN}{name}Value": draft.OptionalOf(Builtin(word)) for name, word in _WRAPPED.items()},
}
_LAST = 536_870_911
_Path = tuple[int, ...]


def read_proto(
    descriptors: FileDescriptorSet,
    archive: bool,
    places: Places,
    project: draft.Project,
    diagnostics: Diagnostics,
) -> None:
    """Add a draft for each file, imported ones first. `archive`: messages are of that tier, their bytes
    protobuf's; else structs say the same in types that suit this language.
    """
    try:
        known = Known(descriptors)
    except Unresolved as error:
        reason = f"the Python package protobuf does not read its descriptors ({error}); a newer one may"
        diagnostics.error("E1001", None, reason=reason)
        return
    for file in descriptors.file:
        project.add(_File(file, known, archive, places, diagnostics).read())


@dataclass(slots=True)
class _Scope:
    """The place of a declaration: what its key begins with, and the message that it is declared within."""

    key: str
    holder: str = ""


class _File:
    def __init__(
        self,
        file: FileDescriptorProto,
        known: Known,
        archive: bool,
        places: Places,
        diagnostics: Diagnostics,
    ) -> None:
        self._file = file
        self._known = known
        self._archive = archive
        self._places = places
        self._diagnostics = diagnostics
        self._locations: dict[_Path, SourceCodeInfo.Location] = {}
        for each in file.source_code_info.location:
            self._locations.setdefault(tuple(each.path), each)
        self._declarations: list[draft.Declaration] = []

    def read(self) -> draft.File:
        file = self._file
        scope = _Scope(f".{file.package}" if file.package else "")
        for index, enum in enumerate(file.enum_type):
            self._enum(enum, scope, (5, index))
        for index, message in enumerate(file.message_type):
            self._message(message, scope, (4, index))
        for index, service in enumerate(file.service):
            self._service(service, scope, (6, index))
        for index, extension in enumerate(file.extension):
            if not extension.extendee.startswith(_OWN):  # those of options say nothing of values
                what = f"extension `{extension.name}` of `{extension.extendee.lstrip('.')}`"
                self._left_out((7, index), what)
        source = self._places.source(file.name)
        strict = refused_bytes(file) if self._archive else None
        if strict is not None and source.text:  # protoc's own files have none
            self._diagnostics.warning("W1004", self._span(strict[1]), refused=strict[0])
        package = tuple(file.package.split(".")) if file.package else ()
        if f".{file.package}.".startswith(_OWN):
            package = package[1:]  # otherwise ours would hide protobuf's own modules
        comment, span = self._comment((2,)), self._span((2,))
        return draft.File(source, file.name, package, comment, self._declarations, span=span)

    # Places and words --------------------------------------------------------------------------------------

    def _span(self, path: _Path) -> Span | None:
        place = self._locations.get((*path, 1)) or self._locations.get(path)  # 1: the name
        return None if place is None else self._places.between(self._file.name, place.span)

    def _comment(self, path: _Path) -> str:
        place = self._locations.get(path)
        if place is None:
            return ""
        said = place.leading_comments.rstrip("\n"), place.trailing_comments
        return "\n".join(filter(None, said))

    def _left_out(self, path: _Path, what: str, help: str | None = None) -> None:  # noqa: A002
        self._diagnostics.warning("W1001", self._span(path), help=help, what=what)

    # Messages ----------------------------------------------------------------------------------------------

    def _message(self, message: DescriptorProto, scope: _Scope, path: _Path) -> None:
        key = f"{scope.key}.{message.name}"
        inner = _Scope(key, key)
        for index, enum in enumerate(message.enum_type):
            self._enum(enum, inner, (*path, 4, index))
        for index, nested in enumerate(message.nested_type):
            if not nested.options.map_entry:
                self._message(nested, inner, (*path, 3, index))
        made = draft.Struct(key, message.name, self._span(path), doc=self._comment(path), holder=scope.holder)
        if message.options.deprecated:
            made.annotations.append("@deprecated")
        if self._archive:
            made.annotations.append("@tier(archive)")
        unions = self._unions(message, inner, path)
        for index, each in enumerate(message.field):
            place = (*path, 2, index)
            if self._archive and self._known.field(key, each.name).type == _F.TYPE_GROUP:
                self._group_left_out(made, each, place)
                continue
            member = self._field(key, each, place)
            if not each.HasField("oneof_index"):
                made.members.append(member)
            elif each.oneof_index not in unions:  # of an archive, or one that protoc made for `optional`
                member.type, member.default = draft.optional(member.type), None
                made.members.append(member)
            else:
                union = unions[each.oneof_index]
                member.type, member.default = draft.present(member.type), None
                if not union.members:
                    made.members.append(self._oneof_field(message, union, each, path))
                union.members.append(member)
        made.reserved += _reserved(message)
        self._reserve_names(made, message.reserved_name, path)
        self._declarations += [*unions.values(), made]
        self._extensions(message, path)

    def _group_left_out(self, struct: draft.Struct, field_: FieldDescriptorProto, path: _Path) -> None:
        """A field with the bytes of a group, by `group` or by DELIMITED. An archive keeps it like every
        unknown field, as long as no field has its number.
        """
        what = f"field `{field_.name}`, which has the bytes of a group,"
        self._changed(path, what, "an unknown field, which is kept", "archives have no groups")
        struct.reserved.append(str(field_.number))

    def _reserve_names(self, struct: draft.Struct, names: Sequence[str], path: _Path) -> None:
        """protobuf reserves any text; one that a oneof has is free to be the name of its union's field."""
        used = {each.name for each in struct.members}
        for index, name in enumerate(names):
            if draft.is_name(name) and name not in used:
                struct.reserved.append(f'"{name}"')
            else:
                self._left_out((*path, 10, index), f"the reserved name `{name}` of `{struct.name}`")

    def _extensions(self, message: DescriptorProto, path: _Path) -> None:
        if message.extension_range:
            self._left_out((*path, 5), f"the range of extensions of `{message.name}`")
        for index, extension in enumerate(message.extension):
            if not extension.extendee.startswith(_OWN):
                self._left_out((*path, 6, index), f"extension `{extension.name}`")

    def _unions(self, message: DescriptorProto, scope: _Scope, path: _Path) -> dict[int, draft.Struct]:
        """One for each oneof that the author wrote."""
        synthetic = {each.oneof_index for each in message.field if each.proto3_optional}
        made: dict[int, draft.Struct] = {}
        for index, oneof in enumerate(message.oneof_decl):
            if index not in synthetic and self._archive:
                what, place = f"oneof `{oneof.name}`", (*path, 8, index)
                self._changed(place, what, "optional fields", "in bytes it is no more than these")
            elif index not in synthetic:
                key, place = f"{scope.key}.{oneof.name} oneof", (*path, 8, index)
                doc = self._comment(place)
                made[index] = draft.Struct(
                    key,
                    draft.camel(oneof.name),
                    self._span(place),
                    doc=doc,
                    holder=scope.holder,
                    kind="union",
                )
        return made

    def _oneof_field(
        self, message: DescriptorProto, union: draft.Struct, first: FieldDescriptorProto, path: _Path
    ) -> draft.Member:
        """The field that holds a union has the number of the union's first alternative."""
        name = message.oneof_decl[first.oneof_index].name
        span = self._span((*path, 8, first.oneof_index))
        return draft.Member(name, draft.OptionalOf(Ref(union.key)), span, first.number)

    def _field(self, message: str, field_: FieldDescriptorProto, path: _Path) -> draft.Member:
        """A field of the message of this key. What is not sent without presence is zero."""
        resolved = self._known.field(message, field_.name)
        type_ = self._type(field_)
        repeated = field_.label == _F.LABEL_REPEATED
        entry = self._known.messages.get(field_.type_name) if repeated else None
        default = None
        if entry is not None and entry.options.map_entry:
            type_ = draft.MapOf(self._type(entry.field[0]), self._type(entry.field[1]))
        elif repeated:
            type_ = draft.ListOf(type_)
        elif field_.HasField("default_value"):
            default = default_of(field_, self._known)
        elif not resolved.has_presence:
            default = zero_of(field_, self._known)
        elif not resolved.is_required:
            type_ = draft.optional(type_)
        member = draft.Member(
            field_.name, type_, self._span(path), field_.number, default, doc=self._comment(path)
        )
        if field_.options.deprecated:
            member.annotations.append("@deprecated")
        if field_.type == _F.TYPE_GROUP:
            what = f"group `{field_.name}`"
            self._changed(path, what, "a field of a struct", "there are no groups")
        return member

    def _changed(self, path: _Path, what: str, becomes: str, reason: str) -> None:
        self._diagnostics.warning("W1002", self._span(path), what=what, becomes=becomes, reason=reason)

    def _type(self, field_: FieldDescriptorProto) -> draft.Type:
        if field_.type in _SCALARS:
            coded = _CODED.get(field_.type) if self._archive else None
            return Builtin(coded or _SCALARS[field_.type])
        return self._message_type(field_.type_name)

    def _message_type(self, key: str) -> draft.Type:
        """Of a message or enum. In archives even well-known messages are no more than messages."""
        known = None if self._archive else _KNOWN.get(key)
        return known or Ref(key)

    # Enums -------------------------------------------------------------------------------------------------

    def _enum(self, enum: EnumDescriptorProto, scope: _Scope, path: _Path) -> None:
        made = draft.Enum(
            f"{scope.key}.{enum.name}",
            enum.name,
            self._span(path),
            doc=self._comment(path),
            holder=scope.holder,
        )
        made.open = self._archive or not self._known.enum(made.key).is_closed
        if enum.options.deprecated:
            made.annotations.append("@deprecated")
        for index, each in enumerate(enum.value):
            place = (*path, 2, index)
            known = made.member_of(each.number)
            if known is not None:
                what = f"`{each.name}`, which is another name of `{known}`"
                self._left_out(place, what)
                continue
            member = draft.EnumMember(
                each.name, each.number, doc=self._comment(place), span=self._span(place)
            )
            if each.options.deprecated:
                member.annotations.append("@deprecated")
            made.members.append(member)
        if enum.reserved_range or enum.reserved_name:
            what = f"what `{enum.name}` reserves"
            self._left_out((*path, 4, 0) if enum.reserved_range else (*path, 5, 0), what)
        self._declarations.append(made)

    # Services ----------------------------------------------------------------------------------------------

    def _service(self, service: ServiceDescriptorProto, scope: _Scope, path: _Path) -> None:
        made = draft.Service(
            f"{scope.key}.{service.name}", service.name, self._span(path), doc=self._comment(path)
        )
        if service.options.deprecated:
            made.annotations.append("@deprecated")
        made.methods = [self._method(each, (*path, 2, index)) for index, each in enumerate(service.method)]
        self._declarations.append(made)

    def _method(self, method: MethodDescriptorProto, path: _Path) -> draft.Method:
        made = draft.Method(method.name, self._span(path), doc=self._comment(path))
        if method.options.deprecated:
            made.annotations.append("@deprecated")
        if method.options.idempotency_level != MethodOptions.IDEMPOTENCY_UNKNOWN:
            made.annotations.append("@idempotent")
        made.parameters = self._values("request", method.input_type, method.client_streaming, path)
        made.results = self._values("", method.output_type, method.server_streaming, path)
        return made

    def _values(self, name: str, key: str, stream: bool, path: _Path) -> list[draft.Member]:
        if key == _EMPTY and not stream:
            return []
        type_ = self._message_type(key)
        if stream:
            element = draft.present(type_)
            return [draft.Member(f"{name}s" if name else "", draft.StreamOf(element), self._span(path))]
        return [draft.Member(name, type_, self._span(path))]


def _reserved(message: DescriptorProto) -> Sequence[str]:
    ranges = [(each.start, min(each.end - 1, _LAST)) for each in message.reserved_range]
    return [str(low) if low == high else f"{low}..{high}" for low, high in ranges]
