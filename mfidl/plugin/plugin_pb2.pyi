from mfidl.descriptor import descriptor_pb2 as _descriptor_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Diagnostic(_message.Message):
    __slots__ = ["help", "message", "notes", "place", "severity"]
    class Severity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ERROR: Diagnostic.Severity
    HELP_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_UNSPECIFIED: Diagnostic.Severity
    WARNING: Diagnostic.Severity
    help: str
    message: str
    notes: _containers.RepeatedCompositeFieldContainer[Note]
    place: Place
    severity: Diagnostic.Severity
    def __init__(self, severity: _Optional[_Union[Diagnostic.Severity, str]] = ..., message: _Optional[str] = ..., place: _Optional[_Union[Place, _Mapping]] = ..., notes: _Optional[_Iterable[_Union[Note, _Mapping]]] = ..., help: _Optional[str] = ...) -> None: ...

class File(_message.Message):
    __slots__ = ["module", "path", "text"]
    MODULE_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    module: str
    path: str
    text: str
    def __init__(self, path: _Optional[str] = ..., text: _Optional[str] = ..., module: _Optional[str] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ["message", "place"]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    PLACE_FIELD_NUMBER: _ClassVar[int]
    message: str
    place: Place
    def __init__(self, message: _Optional[str] = ..., place: _Optional[_Union[Place, _Mapping]] = ...) -> None: ...

class Option(_message.Message):
    __slots__ = ["key", "value"]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: str
    value: str
    def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...

class Place(_message.Message):
    __slots__ = ["module", "span"]
    MODULE_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    module: str
    span: _descriptor_pb2.Span
    def __init__(self, module: _Optional[str] = ..., span: _Optional[_Union[_descriptor_pb2.Span, _Mapping]] = ...) -> None: ...

class Request(_message.Message):
    __slots__ = ["compiler_version", "format", "modules", "options", "program"]
    COMPILER_VERSION_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MODULES_FIELD_NUMBER: _ClassVar[int]
    OPTIONS_FIELD_NUMBER: _ClassVar[int]
    PROGRAM_FIELD_NUMBER: _ClassVar[int]
    compiler_version: str
    format: int
    modules: _containers.RepeatedScalarFieldContainer[str]
    options: _containers.RepeatedCompositeFieldContainer[Option]
    program: _descriptor_pb2.Program
    def __init__(self, format: _Optional[int] = ..., compiler_version: _Optional[str] = ..., modules: _Optional[_Iterable[str]] = ..., options: _Optional[_Iterable[_Union[Option, _Mapping]]] = ..., program: _Optional[_Union[_descriptor_pb2.Program, _Mapping]] = ...) -> None: ...

class Response(_message.Message):
    __slots__ = ["diagnostics", "files", "format"]
    DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    diagnostics: _containers.RepeatedCompositeFieldContainer[Diagnostic]
    files: _containers.RepeatedCompositeFieldContainer[File]
    format: int
    def __init__(self, format: _Optional[int] = ..., files: _Optional[_Iterable[_Union[File, _Mapping]]] = ..., diagnostics: _Optional[_Iterable[_Union[Diagnostic, _Mapping]]] = ...) -> None: ...
