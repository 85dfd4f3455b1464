from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

ARCHIVE: Tier
BOOL: Scalar
BYTES: Scalar
CODING_UNSPECIFIED: Coding
CUSTOM: Tier
DESCRIPTOR: _descriptor.FileDescriptor
DURATION: Scalar
F32: Scalar
F64: Scalar
FEBIRD: Tier
FIXED: Coding
I16: Scalar
I32: Scalar
I64: Scalar
I8: Scalar
MEMCPY: Tier
SCALAR_UNSPECIFIED: Scalar
STRING: Scalar
TIER_UNSPECIFIED: Tier
TIMESTAMP: Scalar
U16: Scalar
U32: Scalar
U64: Scalar
U8: Scalar
UUID: Scalar
VARINT: Coding

class Agent(_message.Message):
    __slots__ = ["annotations", "deprecated", "doc", "full_name", "name", "span", "spelled", "target_names", "type"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SPELLED_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    deprecated: str
    doc: str
    full_name: str
    name: str
    span: Span
    spelled: int
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    type: int
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., type: _Optional[int] = ..., spelled: _Optional[int] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Alias(_message.Message):
    __slots__ = ["annotations", "constraints", "cpp_view", "deprecated", "doc", "full_name", "name", "span", "spelled", "target_names", "type", "within"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    CPP_VIEW_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SPELLED_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    cpp_view: bool
    deprecated: str
    doc: str
    full_name: str
    name: str
    span: Span
    spelled: int
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    type: int
    within: str
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., type: _Optional[int] = ..., spelled: _Optional[int] = ..., doc: _Optional[str] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., cpp_view: bool = ..., annotations: _Optional[_Iterable[int]] = ..., within: _Optional[str] = ...) -> None: ...

class AliasOf(_message.Message):
    __slots__ = ["full_name", "target"]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    full_name: str
    target: int
    def __init__(self, full_name: _Optional[str] = ..., target: _Optional[int] = ...) -> None: ...

class ArrayOf(_message.Message):
    __slots__ = ["constraints", "element", "length"]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ELEMENT_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    element: int
    length: int
    def __init__(self, element: _Optional[int] = ..., length: _Optional[int] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ...) -> None: ...

class Cache(_message.Message):
    __slots__ = ["entries", "errors", "max_bytes", "ttl_ns"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    ERRORS_FIELD_NUMBER: _ClassVar[int]
    MAX_BYTES_FIELD_NUMBER: _ClassVar[int]
    TTL_NS_FIELD_NUMBER: _ClassVar[int]
    entries: int
    errors: bool
    max_bytes: int
    ttl_ns: int
    def __init__(self, entries: _Optional[int] = ..., ttl_ns: _Optional[int] = ..., max_bytes: _Optional[int] = ..., errors: bool = ...) -> None: ...

class Const(_message.Message):
    __slots__ = ["annotations", "deprecated", "doc", "full_name", "name", "span", "spelled", "target_names", "type", "value"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SPELLED_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    deprecated: str
    doc: str
    full_name: str
    name: str
    span: Span
    spelled: int
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    type: int
    value: int
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., type: _Optional[int] = ..., spelled: _Optional[int] = ..., value: _Optional[int] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Constraint(_message.Message):
    __slots__ = ["finite", "length", "pattern", "range"]
    FINITE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    PATTERN_FIELD_NUMBER: _ClassVar[int]
    RANGE_FIELD_NUMBER: _ClassVar[int]
    finite: bool
    length: Length
    pattern: str
    range: Range
    def __init__(self, range: _Optional[_Union[Range, _Mapping]] = ..., length: _Optional[_Union[Length, _Mapping]] = ..., finite: bool = ..., pattern: _Optional[str] = ...) -> None: ...

class CppCodec(_message.Message):
    __slots__ = ["codec", "header", "type"]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    codec: str
    header: str
    type: str
    def __init__(self, header: _Optional[str] = ..., type: _Optional[str] = ..., codec: _Optional[str] = ...) -> None: ...

class CppType(_message.Message):
    __slots__ = ["header", "type"]
    HEADER_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    header: str
    type: str
    def __init__(self, header: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...

class Declaration(_message.Message):
    __slots__ = ["alias", "enum", "flags", "struct", "union"]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    ENUM_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    STRUCT_FIELD_NUMBER: _ClassVar[int]
    UNION_FIELD_NUMBER: _ClassVar[int]
    alias: Alias
    enum: Enum
    flags: Flags
    struct: Struct
    union: Union
    def __init__(self, struct: _Optional[_Union[Struct, _Mapping]] = ..., union: _Optional[_Union[Union, _Mapping]] = ..., enum: _Optional[_Union[Enum, _Mapping]] = ..., flags: _Optional[_Union[Flags, _Mapping]] = ..., alias: _Optional[_Union[Alias, _Mapping]] = ...) -> None: ...

class Elements(_message.Message):
    __slots__ = ["constraints", "element"]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    ELEMENT_FIELD_NUMBER: _ClassVar[int]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    element: int
    def __init__(self, element: _Optional[int] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ...) -> None: ...

class Enum(_message.Message):
    __slots__ = ["annotations", "base", "deprecated", "doc", "full_name", "members", "name", "open", "span", "target_names", "within"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OPEN_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    base: Scalar
    deprecated: str
    doc: str
    full_name: str
    members: _containers.RepeatedCompositeFieldContainer[EnumMember]
    name: str
    open: bool
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    within: str
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., base: _Optional[_Union[Scalar, str]] = ..., open: bool = ..., members: _Optional[_Iterable[_Union[EnumMember, _Mapping]]] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ..., within: _Optional[str] = ...) -> None: ...

class EnumMember(_message.Message):
    __slots__ = ["annotations", "deprecated", "doc", "name", "number", "span", "target_names"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    deprecated: str
    doc: str
    name: str
    number: int
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    def __init__(self, name: _Optional[str] = ..., number: _Optional[int] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class EnumValue(_message.Message):
    __slots__ = ["enum", "member", "number"]
    ENUM_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    enum: str
    member: str
    number: int
    def __init__(self, enum: _Optional[str] = ..., member: _Optional[str] = ..., number: _Optional[int] = ...) -> None: ...

class Field(_message.Message):
    __slots__ = ["annotations", "constraints", "default", "deprecated", "doc", "name", "number", "required", "span", "spelled", "target_names", "type", "was"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    DEFAULT_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SPELLED_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    WAS_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    default: int
    deprecated: str
    doc: str
    name: str
    number: int
    required: bool
    span: Span
    spelled: int
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    type: int
    was: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., spelled: _Optional[int] = ..., doc: _Optional[str] = ..., default: _Optional[int] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ..., number: _Optional[int] = ..., was: _Optional[_Iterable[str]] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., required: bool = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class FieldValue(_message.Message):
    __slots__ = ["name", "value"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    name: str
    value: int
    def __init__(self, name: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class Flags(_message.Message):
    __slots__ = ["annotations", "base", "deprecated", "doc", "full_name", "members", "name", "span", "target_names", "within"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    BASE_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    base: Scalar
    deprecated: str
    doc: str
    full_name: str
    members: _containers.RepeatedCompositeFieldContainer[FlagsMember]
    name: str
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    within: str
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., base: _Optional[_Union[Scalar, str]] = ..., members: _Optional[_Iterable[_Union[FlagsMember, _Mapping]]] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ..., within: _Optional[str] = ...) -> None: ...

class FlagsMember(_message.Message):
    __slots__ = ["annotations", "bit", "deprecated", "doc", "name", "span", "target_names"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    BIT_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    bit: int
    deprecated: str
    doc: str
    name: str
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    def __init__(self, name: _Optional[str] = ..., bit: _Optional[int] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class FlagsValue(_message.Message):
    __slots__ = ["bits", "flags", "members"]
    BITS_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    bits: int
    flags: str
    members: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, flags: _Optional[str] = ..., members: _Optional[_Iterable[str]] = ..., bits: _Optional[int] = ...) -> None: ...

class Import(_message.Message):
    __slots__ = ["local_name", "module"]
    LOCAL_NAME_FIELD_NUMBER: _ClassVar[int]
    MODULE_FIELD_NUMBER: _ClassVar[int]
    local_name: str
    module: str
    def __init__(self, module: _Optional[str] = ..., local_name: _Optional[str] = ...) -> None: ...

class Layout(_message.Message):
    __slots__ = ["align", "padding", "size", "slots"]
    ALIGN_FIELD_NUMBER: _ClassVar[int]
    PADDING_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    align: int
    padding: _containers.RepeatedCompositeFieldContainer[Padding]
    size: int
    slots: _containers.RepeatedCompositeFieldContainer[Slot]
    def __init__(self, size: _Optional[int] = ..., align: _Optional[int] = ..., slots: _Optional[_Iterable[_Union[Slot, _Mapping]]] = ..., padding: _Optional[_Iterable[_Union[Padding, _Mapping]]] = ...) -> None: ...

class Length(_message.Message):
    __slots__ = ["high", "low"]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    high: int
    low: int
    def __init__(self, low: _Optional[int] = ..., high: _Optional[int] = ...) -> None: ...

class ListValue(_message.Message):
    __slots__ = ["elements"]
    ELEMENTS_FIELD_NUMBER: _ClassVar[int]
    elements: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, elements: _Optional[_Iterable[int]] = ...) -> None: ...

class MapEntry(_message.Message):
    __slots__ = ["key", "value"]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: int
    value: int
    def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ...) -> None: ...

class MapOf(_message.Message):
    __slots__ = ["key", "key_constraints", "value", "value_constraints"]
    KEY_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    VALUE_CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    key: int
    key_constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    value: int
    value_constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    def __init__(self, key: _Optional[int] = ..., value: _Optional[int] = ..., key_constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ..., value_constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ...) -> None: ...

class MapValue(_message.Message):
    __slots__ = ["entries"]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    entries: _containers.RepeatedCompositeFieldContainer[MapEntry]
    def __init__(self, entries: _Optional[_Iterable[_Union[MapEntry, _Mapping]]] = ...) -> None: ...

class Method(_message.Message):
    __slots__ = ["annotations", "batch_max", "cached", "deadline_ns", "deprecated", "doc", "full_name", "idempotent", "index", "name", "oneway", "ordered", "param_stream", "params", "replicated", "result_stream", "results", "single_result", "span", "target_names", "throws", "was"]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    BATCH_MAX_FIELD_NUMBER: _ClassVar[int]
    CACHED_FIELD_NUMBER: _ClassVar[int]
    DEADLINE_NS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENT_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ONEWAY_FIELD_NUMBER: _ClassVar[int]
    ORDERED_FIELD_NUMBER: _ClassVar[int]
    PARAMS_FIELD_NUMBER: _ClassVar[int]
    PARAM_STREAM_FIELD_NUMBER: _ClassVar[int]
    REPLICATED_FIELD_NUMBER: _ClassVar[int]
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    RESULT_STREAM_FIELD_NUMBER: _ClassVar[int]
    SINGLE_RESULT_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    THROWS_FIELD_NUMBER: _ClassVar[int]
    WAS_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    batch_max: int
    cached: Cache
    deadline_ns: int
    deprecated: str
    doc: str
    full_name: str
    idempotent: bool
    index: int
    name: str
    oneway: bool
    ordered: bool
    param_stream: Stream
    params: Struct
    replicated: str
    result_stream: Stream
    results: Struct
    single_result: bool
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    throws: _containers.RepeatedScalarFieldContainer[str]
    was: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., index: _Optional[int] = ..., params: _Optional[_Union[Struct, _Mapping]] = ..., results: _Optional[_Union[Struct, _Mapping]] = ..., single_result: bool = ..., throws: _Optional[_Iterable[str]] = ..., oneway: bool = ..., idempotent: bool = ..., deadline_ns: _Optional[int] = ..., batch_max: _Optional[int] = ..., cached: _Optional[_Union[Cache, _Mapping]] = ..., replicated: _Optional[str] = ..., param_stream: _Optional[_Union[Stream, _Mapping]] = ..., result_stream: _Optional[_Union[Stream, _Mapping]] = ..., was: _Optional[_Iterable[str]] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., ordered: bool = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Module(_message.Message):
    __slots__ = ["agents", "annotation_types", "annotations", "constants", "declarations", "doc", "imports", "name", "path", "requested", "services", "topics"]
    AGENTS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    ANNOTATION_TYPES_FIELD_NUMBER: _ClassVar[int]
    CONSTANTS_FIELD_NUMBER: _ClassVar[int]
    DECLARATIONS_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    IMPORTS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_FIELD_NUMBER: _ClassVar[int]
    SERVICES_FIELD_NUMBER: _ClassVar[int]
    TOPICS_FIELD_NUMBER: _ClassVar[int]
    agents: _containers.RepeatedCompositeFieldContainer[Agent]
    annotation_types: _containers.RepeatedCompositeFieldContainer[Struct]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    constants: _containers.RepeatedCompositeFieldContainer[Const]
    declarations: _containers.RepeatedCompositeFieldContainer[Declaration]
    doc: str
    imports: _containers.RepeatedCompositeFieldContainer[Import]
    name: str
    path: str
    requested: bool
    services: _containers.RepeatedCompositeFieldContainer[Service]
    topics: _containers.RepeatedCompositeFieldContainer[Topic]
    def __init__(self, name: _Optional[str] = ..., path: _Optional[str] = ..., requested: bool = ..., doc: _Optional[str] = ..., imports: _Optional[_Iterable[_Union[Import, _Mapping]]] = ..., constants: _Optional[_Iterable[_Union[Const, _Mapping]]] = ..., agents: _Optional[_Iterable[_Union[Agent, _Mapping]]] = ..., declarations: _Optional[_Iterable[_Union[Declaration, _Mapping]]] = ..., services: _Optional[_Iterable[_Union[Service, _Mapping]]] = ..., topics: _Optional[_Iterable[_Union[Topic, _Mapping]]] = ..., annotation_types: _Optional[_Iterable[_Union[Struct, _Mapping]]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Named(_message.Message):
    __slots__ = ["full_name", "kind"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ENUM: Named.Kind
    ERROR: Named.Kind
    FLAGS: Named.Kind
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: Named.Kind
    STRUCT: Named.Kind
    UNION: Named.Kind
    full_name: str
    kind: Named.Kind
    def __init__(self, full_name: _Optional[str] = ..., kind: _Optional[_Union[Named.Kind, str]] = ...) -> None: ...

class Number(_message.Message):
    __slots__ = ["integer", "large", "real"]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    LARGE_FIELD_NUMBER: _ClassVar[int]
    REAL_FIELD_NUMBER: _ClassVar[int]
    integer: int
    large: int
    real: float
    def __init__(self, integer: _Optional[int] = ..., large: _Optional[int] = ..., real: _Optional[float] = ...) -> None: ...

class NumberRange(_message.Message):
    __slots__ = ["first", "last"]
    FIRST_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    first: int
    last: int
    def __init__(self, first: _Optional[int] = ..., last: _Optional[int] = ...) -> None: ...

class Padding(_message.Message):
    __slots__ = ["offset", "size"]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    offset: int
    size: int
    def __init__(self, offset: _Optional[int] = ..., size: _Optional[int] = ...) -> None: ...

class Plan(_message.Message):
    __slots__ = ["layout", "reason", "tier"]
    LAYOUT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    layout: Layout
    reason: str
    tier: Tier
    def __init__(self, tier: _Optional[_Union[Tier, str]] = ..., reason: _Optional[str] = ..., layout: _Optional[_Union[Layout, _Mapping]] = ...) -> None: ...

class Program(_message.Message):
    __slots__ = ["format", "modules", "types", "values"]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    MODULES_FIELD_NUMBER: _ClassVar[int]
    TYPES_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    format: int
    modules: _containers.RepeatedCompositeFieldContainer[Module]
    types: _containers.RepeatedCompositeFieldContainer[Type]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, format: _Optional[int] = ..., modules: _Optional[_Iterable[_Union[Module, _Mapping]]] = ..., types: _Optional[_Iterable[_Union[Type, _Mapping]]] = ..., values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class PythonCodec(_message.Message):
    __slots__ = ["codec", "module"]
    CODEC_FIELD_NUMBER: _ClassVar[int]
    MODULE_FIELD_NUMBER: _ClassVar[int]
    codec: str
    module: str
    def __init__(self, module: _Optional[str] = ..., codec: _Optional[str] = ...) -> None: ...

class Range(_message.Message):
    __slots__ = ["high", "low"]
    HIGH_FIELD_NUMBER: _ClassVar[int]
    LOW_FIELD_NUMBER: _ClassVar[int]
    high: Number
    low: Number
    def __init__(self, low: _Optional[_Union[Number, _Mapping]] = ..., high: _Optional[_Union[Number, _Mapping]] = ...) -> None: ...

class Reserved(_message.Message):
    __slots__ = ["names", "numbers"]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    NUMBERS_FIELD_NUMBER: _ClassVar[int]
    names: _containers.RepeatedScalarFieldContainer[str]
    numbers: _containers.RepeatedCompositeFieldContainer[NumberRange]
    def __init__(self, numbers: _Optional[_Iterable[_Union[NumberRange, _Mapping]]] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class Service(_message.Message):
    __slots__ = ["agent", "annex", "annotations", "deprecated", "descriptor", "doc", "extends", "fingerprint", "full_name", "methods", "name", "span", "target_names"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ANNEX_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    EXTENDS_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    agent: str
    annex: str
    annotations: _containers.RepeatedScalarFieldContainer[int]
    deprecated: str
    descriptor: str
    doc: str
    extends: str
    fingerprint: bytes
    full_name: str
    methods: _containers.RepeatedCompositeFieldContainer[Method]
    name: str
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., agent: _Optional[str] = ..., methods: _Optional[_Iterable[_Union[Method, _Mapping]]] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., descriptor: _Optional[str] = ..., fingerprint: _Optional[bytes] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annex: _Optional[str] = ..., extends: _Optional[str] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Slot(_message.Message):
    __slots__ = ["align", "name", "offset", "size"]
    ALIGN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    align: int
    name: str
    offset: int
    size: int
    def __init__(self, name: _Optional[str] = ..., offset: _Optional[int] = ..., size: _Optional[int] = ..., align: _Optional[int] = ...) -> None: ...

class Span(_message.Message):
    __slots__ = ["column", "end", "line", "start"]
    COLUMN_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    LINE_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    column: int
    end: int
    line: int
    start: int
    def __init__(self, start: _Optional[int] = ..., end: _Optional[int] = ..., line: _Optional[int] = ..., column: _Optional[int] = ...) -> None: ...

class Stream(_message.Message):
    __slots__ = ["constraints", "doc", "name", "span", "spelled", "type"]
    CONSTRAINTS_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    SPELLED_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    constraints: _containers.RepeatedCompositeFieldContainer[Constraint]
    doc: str
    name: str
    span: Span
    spelled: int
    type: int
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., spelled: _Optional[int] = ..., constraints: _Optional[_Iterable[_Union[Constraint, _Mapping]]] = ..., doc: _Optional[str] = ..., span: _Optional[_Union[Span, _Mapping]] = ...) -> None: ...

class Struct(_message.Message):
    __slots__ = ["annotations", "asked_tier", "cpp_codec", "cpp_type", "cycle", "deprecated", "doc", "fields", "full_name", "kind", "name", "plan", "python_codec", "reserved", "span", "target_names", "within"]
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = []
    ANNOTATION: Struct.Kind
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    ASKED_TIER_FIELD_NUMBER: _ClassVar[int]
    CPP_CODEC_FIELD_NUMBER: _ClassVar[int]
    CPP_TYPE_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    ERROR: Struct.Kind
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_UNSPECIFIED: Struct.Kind
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARAMS: Struct.Kind
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PYTHON_CODEC_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    RESULTS: Struct.Kind
    SPAN_FIELD_NUMBER: _ClassVar[int]
    STRUCT: Struct.Kind
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    asked_tier: Tier
    cpp_codec: CppCodec
    cpp_type: CppType
    cycle: _containers.RepeatedScalarFieldContainer[str]
    deprecated: str
    doc: str
    fields: _containers.RepeatedCompositeFieldContainer[Field]
    full_name: str
    kind: Struct.Kind
    name: str
    plan: Plan
    python_codec: PythonCodec
    reserved: Reserved
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    within: str
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., kind: _Optional[_Union[Struct.Kind, str]] = ..., fields: _Optional[_Iterable[_Union[Field, _Mapping]]] = ..., doc: _Optional[str] = ..., asked_tier: _Optional[_Union[Tier, str]] = ..., cycle: _Optional[_Iterable[str]] = ..., reserved: _Optional[_Union[Reserved, _Mapping]] = ..., cpp_codec: _Optional[_Union[CppCodec, _Mapping]] = ..., python_codec: _Optional[_Union[PythonCodec, _Mapping]] = ..., cpp_type: _Optional[_Union[CppType, _Mapping]] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ..., within: _Optional[str] = ...) -> None: ...

class StructValue(_message.Message):
    __slots__ = ["fields", "struct"]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    STRUCT_FIELD_NUMBER: _ClassVar[int]
    fields: _containers.RepeatedCompositeFieldContainer[FieldValue]
    struct: str
    def __init__(self, struct: _Optional[str] = ..., fields: _Optional[_Iterable[_Union[FieldValue, _Mapping]]] = ...) -> None: ...

class TargetName(_message.Message):
    __slots__ = ["name", "target"]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    name: str
    target: str
    def __init__(self, target: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class Topic(_message.Message):
    __slots__ = ["agent", "annex", "annotations", "deprecated", "descriptor", "doc", "fingerprint", "full_name", "name", "overflow", "replay", "span", "target_names", "type"]
    AGENT_FIELD_NUMBER: _ClassVar[int]
    ANNEX_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTOR_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    REPLAY_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    agent: str
    annex: str
    annotations: _containers.RepeatedScalarFieldContainer[int]
    deprecated: str
    descriptor: str
    doc: str
    fingerprint: bytes
    full_name: str
    name: str
    overflow: _containers.RepeatedScalarFieldContainer[str]
    replay: int
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    type: int
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., agent: _Optional[str] = ..., type: _Optional[int] = ..., doc: _Optional[str] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., descriptor: _Optional[str] = ..., fingerprint: _Optional[bytes] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annex: _Optional[str] = ..., replay: _Optional[int] = ..., overflow: _Optional[_Iterable[str]] = ..., annotations: _Optional[_Iterable[int]] = ...) -> None: ...

class Type(_message.Message):
    __slots__ = ["alias", "array", "coding", "list", "map", "named", "optional", "ref", "scalar", "set"]
    ALIAS_FIELD_NUMBER: _ClassVar[int]
    ARRAY_FIELD_NUMBER: _ClassVar[int]
    CODING_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    MAP_FIELD_NUMBER: _ClassVar[int]
    NAMED_FIELD_NUMBER: _ClassVar[int]
    OPTIONAL_FIELD_NUMBER: _ClassVar[int]
    REF_FIELD_NUMBER: _ClassVar[int]
    SCALAR_FIELD_NUMBER: _ClassVar[int]
    SET_FIELD_NUMBER: _ClassVar[int]
    alias: AliasOf
    array: ArrayOf
    coding: Coding
    list: Elements
    map: MapOf
    named: Named
    optional: int
    ref: int
    scalar: Scalar
    set: Elements
    def __init__(self, scalar: _Optional[_Union[Scalar, str]] = ..., named: _Optional[_Union[Named, _Mapping]] = ..., list: _Optional[_Union[Elements, _Mapping]] = ..., array: _Optional[_Union[ArrayOf, _Mapping]] = ..., set: _Optional[_Union[Elements, _Mapping]] = ..., map: _Optional[_Union[MapOf, _Mapping]] = ..., optional: _Optional[int] = ..., ref: _Optional[int] = ..., alias: _Optional[_Union[AliasOf, _Mapping]] = ..., coding: _Optional[_Union[Coding, str]] = ...) -> None: ...

class Union(_message.Message):
    __slots__ = ["alternatives", "annotations", "asked_tier", "cycle", "deprecated", "doc", "full_name", "name", "plan", "reserved", "span", "target_names", "within"]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    ANNOTATIONS_FIELD_NUMBER: _ClassVar[int]
    ASKED_TIER_FIELD_NUMBER: _ClassVar[int]
    CYCLE_FIELD_NUMBER: _ClassVar[int]
    DEPRECATED_FIELD_NUMBER: _ClassVar[int]
    DOC_FIELD_NUMBER: _ClassVar[int]
    FULL_NAME_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    RESERVED_FIELD_NUMBER: _ClassVar[int]
    SPAN_FIELD_NUMBER: _ClassVar[int]
    TARGET_NAMES_FIELD_NUMBER: _ClassVar[int]
    WITHIN_FIELD_NUMBER: _ClassVar[int]
    alternatives: _containers.RepeatedCompositeFieldContainer[Field]
    annotations: _containers.RepeatedScalarFieldContainer[int]
    asked_tier: Tier
    cycle: _containers.RepeatedScalarFieldContainer[str]
    deprecated: str
    doc: str
    full_name: str
    name: str
    plan: Plan
    reserved: Reserved
    span: Span
    target_names: _containers.RepeatedCompositeFieldContainer[TargetName]
    within: str
    def __init__(self, name: _Optional[str] = ..., full_name: _Optional[str] = ..., alternatives: _Optional[_Iterable[_Union[Field, _Mapping]]] = ..., doc: _Optional[str] = ..., asked_tier: _Optional[_Union[Tier, str]] = ..., cycle: _Optional[_Iterable[str]] = ..., reserved: _Optional[_Union[Reserved, _Mapping]] = ..., deprecated: _Optional[str] = ..., target_names: _Optional[_Iterable[_Union[TargetName, _Mapping]]] = ..., plan: _Optional[_Union[Plan, _Mapping]] = ..., span: _Optional[_Union[Span, _Mapping]] = ..., annotations: _Optional[_Iterable[int]] = ..., within: _Optional[str] = ...) -> None: ...

class UnionValue(_message.Message):
    __slots__ = ["alternative", "union", "value"]
    ALTERNATIVE_FIELD_NUMBER: _ClassVar[int]
    UNION_FIELD_NUMBER: _ClassVar[int]
    VALUE_FIELD_NUMBER: _ClassVar[int]
    alternative: str
    union: str
    value: int
    def __init__(self, union: _Optional[str] = ..., alternative: _Optional[str] = ..., value: _Optional[int] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ["boolean", "enum", "flags", "integer", "large", "list", "map", "raw", "real", "struct", "text", "union"]
    BOOLEAN_FIELD_NUMBER: _ClassVar[int]
    ENUM_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    INTEGER_FIELD_NUMBER: _ClassVar[int]
    LARGE_FIELD_NUMBER: _ClassVar[int]
    LIST_FIELD_NUMBER: _ClassVar[int]
    MAP_FIELD_NUMBER: _ClassVar[int]
    RAW_FIELD_NUMBER: _ClassVar[int]
    REAL_FIELD_NUMBER: _ClassVar[int]
    STRUCT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    UNION_FIELD_NUMBER: _ClassVar[int]
    boolean: bool
    enum: EnumValue
    flags: FlagsValue
    integer: int
    large: int
    list: ListValue
    map: MapValue
    raw: bytes
    real: float
    struct: StructValue
    text: str
    union: UnionValue
    def __init__(self, boolean: bool = ..., integer: _Optional[int] = ..., large: _Optional[int] = ..., real: _Optional[float] = ..., text: _Optional[str] = ..., raw: _Optional[bytes] = ..., enum: _Optional[_Union[EnumValue, _Mapping]] = ..., flags: _Optional[_Union[FlagsValue, _Mapping]] = ..., list: _Optional[_Union[ListValue, _Mapping]] = ..., map: _Optional[_Union[MapValue, _Mapping]] = ..., struct: _Optional[_Union[StructValue, _Mapping]] = ..., union: _Optional[_Union[UnionValue, _Mapping]] = ...) -> None: ...

class Tier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Scalar(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []

class Coding(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = []
