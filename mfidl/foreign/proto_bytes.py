"""F6. Which bytes protobuf reads of the messages of a .proto file, and archives refuse (docs/import.md)."""

from collections.abc import Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FeatureSet,
    FieldDescriptorProto,
    FileDescriptorProto,
)

_F = FieldDescriptorProto
_VARINTS = frozenset(
    (
        _F.TYPE_INT32,
        _F.TYPE_INT64,
        _F.TYPE_UINT32,
        _F.TYPE_UINT64,
        _F.TYPE_SINT32,
        _F.TYPE_SINT64,
        _F.TYPE_ENUM,
    )
)
_Path = tuple[int, ...]


def refused_bytes(file: FileDescriptorProto) -> tuple[str, _Path] | None:
    """What archives refuse of the fields of this file, in words, and the path of the first field."""
    first: _Path | None = None
    bools = numbers = texts = False
    for field, path in _fields(file):
        first = first or path
        bools = bools or field.type == _F.TYPE_BOOL
        numbers = numbers or field.type in _VARINTS
        texts = texts or (field.type == _F.TYPE_STRING and not _is_checked(field, file))
    if first is None:
        return None
    words = ["a bool that is neither 0 nor 1"] if bools else []
    words += ["a number of more bits than its type"] if numbers else []
    words += ["text that is not UTF-8"] if texts else []
    words.append("a field with another wire type than its own")
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0], first


def _fields(file: FileDescriptorProto) -> Iterator[tuple[FieldDescriptorProto, _Path]]:
    for index, message in enumerate(file.message_type):
        yield from _fields_of(message, (4, index))


def _fields_of(message: DescriptorProto, path: _Path) -> Iterator[tuple[FieldDescriptorProto, _Path]]:
    """Those of entries of maps last, since these are not written in the file."""
    for index, field in enumerate(message.field):
        yield field, (*path, 2, index)
    for index, nested in enumerate(message.nested_type):
        yield from _fields_of(nested, (*path, 3, index))


def _is_checked(field: FieldDescriptorProto, file: FileDescriptorProto) -> bool:
    """Whether protobuf refuses text that is not UTF-8, too."""
    if file.syntax != "editions":
        return file.syntax == "proto3"
    for options in (field.options, file.options):
        if options.features.HasField("utf8_validation"):
            return options.features.utf8_validation == FeatureSet.VERIFY
    return True
