"""F6. protobuf's rules for a missing field: whether a reader can detect that, and its default.

What proto2, proto3 and the features of editions make of a field or an enum is resolved by protobuf's own
runtime, from the descriptors that protoc gives.
"""

import math

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.descriptor_pool import DescriptorPool

from mfidl.foreign import draft

_F = FieldDescriptorProto


class Unresolved(Exception):  # noqa: N818
    """protobuf's runtime refuses what protoc wrote: most often the edition is newer than the runtime."""


class Known:
    """What is needed of the messages and enums of all files of a run, by their keys."""

    def __init__(self, descriptors: FileDescriptorSet) -> None:
        self.messages: dict[str, DescriptorProto] = {}
        self._first_names: dict[tuple[str, str], str] = {}
        self._zeros: dict[str, str] = {}
        self._pool = DescriptorPool()
        for file in descriptors.file:
            self._add(file)

    def _add(self, file: FileDescriptorProto) -> None:
        try:
            self._pool.AddSerializedFile(file.SerializeToString())
        except (TypeError, ValueError, KeyError) as error:
            raise Unresolved(f"{file.name}: {error}") from error
        prefix = f".{file.package}" if file.package else ""
        for message in file.message_type:
            self._message(prefix, message)
        for enum in file.enum_type:
            self._enum(prefix, enum)

    def _message(self, prefix: str, message: DescriptorProto) -> None:
        key = f"{prefix}.{message.name}"
        self.messages[key] = message
        for nested in message.nested_type:
            self._message(key, nested)
        for enum in message.enum_type:
            self._enum(key, enum)

    def _enum(self, prefix: str, enum: EnumDescriptorProto) -> None:
        first: dict[int, str] = {}
        for each in enum.value:
            name = first.setdefault(each.number, each.name)
            self._first_names[f"{prefix}.{enum.name}", each.name] = name
        self._zeros[f"{prefix}.{enum.name}"] = enum.value[0].name

    def member(self, key: str, name: str) -> str:
        """The first of the names that a member of an enum has."""
        return self._first_names[key, name]

    def zero(self, key: str) -> str:
        """The first member of an enum, which is the value of one that is not sent."""
        return self._zeros[key]

    def field(self, message: str, name: str) -> FieldDescriptor:
        """A field of the message of this key, its features resolved."""
        return self._pool.FindMessageTypeByName(message.lstrip(".")).fields_by_name[name]

    def enum(self, key: str) -> EnumDescriptor:
        return self._pool.FindEnumTypeByName(key.lstrip("."))


def default_of(field: FieldDescriptorProto, known: Known) -> draft.Value:
    """The default that the author wrote."""
    text = field.default_value
    match field.type:
        case _F.TYPE_STRING:
            return draft.string_literal(text)
        case _F.TYPE_BYTES:
            return draft.bytes_literal(_unescaped(text))
        case _F.TYPE_ENUM:
            return draft.Named(field.type_name, known.member(field.type_name, text))
        case _F.TYPE_FLOAT | _F.TYPE_DOUBLE:
            return draft.Literal(_float(text))
        case _:
            return draft.Literal(text)


def zero_of(field: FieldDescriptorProto, known: Known) -> draft.Value:
    """What a field without presence is if it is not sent."""
    match field.type:
        case _F.TYPE_STRING | _F.TYPE_BYTES:
            return draft.Literal('""')
        case _F.TYPE_ENUM:
            return draft.Named(field.type_name, known.zero(field.type_name))
        case _F.TYPE_BOOL:
            return draft.Literal("false")
        case _:
            return draft.Literal("0")


def _float(text: str) -> str:
    value = float(text)
    if math.isfinite(value):
        return repr(value)
    return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")


def _unescaped(text: str) -> bytes:
    """A default of bytes is written in a descriptor as in C, with octal escapes."""
    plain = {"n": 10, "r": 13, "t": 9, '"': 34, "'": 39, "\\": 92, "a": 7, "b": 8, "f": 12, "v": 11, "?": 63}
    made, at = bytearray(), 0
    while at < len(text):
        if text[at] != "\\" or at + 1 == len(text):
            made += text[at].encode("utf-8")
            at += 1
        elif text[at + 1] in plain:
            made.append(plain[text[at + 1]])
            at += 2
        else:
            made.append(int(text[at + 1 : at + 4], 8) & 255)
            at += 4
    return bytes(made)
