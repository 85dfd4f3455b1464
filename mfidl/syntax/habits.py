"""F2. What words of other languages are called in this one: for hints only, never for meaning.

Users of protobuf, thrift, C++, Python or Rust write what they are used to. These tables turn "unknown
type `int32`" into "write `i32`".
"""

TYPES = {
    **dict.fromkeys(("int8", "int8_t", "sbyte", "Int8"), "i8"),
    **dict.fromkeys(("int16", "int16_t", "short", "Int16"), "i16"),
    **dict.fromkeys(("int", "int32", "int32_t", "sint32", "sfixed32", "integer", "Int32", "Integer"), "i32"),
    **dict.fromkeys(("int64", "int64_t", "sint64", "sfixed64", "long", "isize", "ssize_t", "Int64"), "i64"),
    **dict.fromkeys(("uint8", "uint8_t", "byte", "uchar", "UInt8"), "u8"),
    **dict.fromkeys(("char",), "u8"),
    **dict.fromkeys(("uint16", "uint16_t", "ushort", "UInt16"), "u16"),
    **dict.fromkeys(("uint", "uint32", "uint32_t", "fixed32", "unsigned", "UInt32"), "u32"),
    **dict.fromkeys(("uint64", "uint64_t", "fixed64", "ulong", "usize", "size_t", "UInt64"), "u64"),
    **dict.fromkeys(("float", "float32", "Float32"), "f32"),
    **dict.fromkeys(("double", "float64", "Float64", "number", "decimal", "real"), "f64"),
    **dict.fromkeys(("boolean", "Bool", "Boolean", "_Bool"), "bool"),
    **dict.fromkeys(("str", "String", "Text", "text", "varchar", "wstring", "string_view"), "string"),
    **dict.fromkeys(("binary", "blob", "bytearray", "ByteArray", "Data", "buffer", "ByteBuffer"), "bytes"),
    **dict.fromkeys(("datetime", "DateTime", "time_point", "Timestamp", "date", "time"), "timestamp"),
    **dict.fromkeys(("timedelta", "TimeDelta", "Duration", "interval"), "duration"),
    **dict.fromkeys(("guid", "Guid", "UUID"), "uuid"),
    **dict.fromkeys(
        ("vector", "Vec", "List", "ArrayList", "seq", "sequence", "deque", "Sequence", "slice"), "list"
    ),
    **dict.fromkeys(
        ("dict", "Dict", "HashMap", "BTreeMap", "unordered_map", "Map", "Mapping", "dictionary"), "map"
    ),
    **dict.fromkeys(("unordered_set", "HashSet", "BTreeSet", "Set", "frozenset"), "set"),
    **dict.fromkeys(("Array", "FixedArray"), "array"),
    **dict.fromkeys(("shared_ptr", "Rc", "Arc", "pointer", "Ref", "weak_ptr"), "ref"),
    **dict.fromkeys(("Stream", "AsyncIterator", "Flux"), "stream"),
}

# Types that have no counterpart, with what to do instead.
TYPE_ADVICE = {
    **dict.fromkeys(
        ("optional", "Optional", "Option", "Maybe", "unique_ptr", "Nullable", "nullable"),
        "what may be absent is written with a `?` behind its type: `T?`",
    ),
    **dict.fromkeys(("pair", "tuple", "Tuple", "Pair"), "a pair is a struct: declare one, so that its parts have names"),
    **dict.fromkeys(("variant", "Union", "oneof", "Either", "any", "Any", "any_of"), "declare the alternatives: `union Name { a: T; b: U; }`"),
    **dict.fromkeys(("void", "None", "Unit", "Empty", "null", "nil"), "there is no empty type: leave it out, or write `T?` for what may be absent"),
    **dict.fromkeys(("object", "Object", "json", "JSON", "Struct"), "every value has a type: declare a struct, or use `bytes`"),
}  # fmt: skip

# Words that begin a declaration in other languages: what to write, and the keyword as which to read on, if
# any.
DECLARATIONS = {
    **dict.fromkeys(
        ("message", "class", "record", "table", "dataclass", "data", "object"),
        ("write `struct`", "struct"),
    ),
    **dict.fromkeys(("exception", "throwable"), ("write `error`", "error")),
    **dict.fromkeys(("interface", "protocol", "trait"), ("methods stand in a `service`, fields in a `struct`", "")),
    **dict.fromkeys(("oneof", "variant", "choice"), ("write `union`", "union")),
    **dict.fromkeys(("bitflags", "bitset", "bitmask", "bitfield"), ("write `flags`", "flags")),
    **dict.fromkeys(("enumeration", "enumerator"), ("write `enum`", "enum")),
    **dict.fromkeys(("namespace", "package", "mod"), ("a file says once which module it is: `module name;`", "")),
    **dict.fromkeys(("use", "include", "from", "require"), ('write `import "path.mfidl";`', "")),
    **dict.fromkeys(("typedef", "using", "alias", "newtype"), ("an alias is written `type Name = u32;`", "")),
    **dict.fromkeys(
        ("constexpr", "static", "let", "var", "val", "define"), ("a constant is written `const NAME: u32 = 1;`", "")
    ),
    **dict.fromkeys(
        ("rpc", "def", "fn", "func", "function", "void"), ("methods stand in a service: `service Name { f(); }`", "")
    ),
    **dict.fromkeys(("if", "for", "while", "switch", "return"), ("a schema only declares: there are no statements", "")),
    "syntax": ("there is one syntax: leave this line out", ""),
    "option": ("options are annotations: `@name(...)` before a declaration", ""),
    "extend": ("declarations are not extended from outside: add the field where it belongs", ""),
    **dict.fromkeys(("edition", "file_identifier", "file_extension", "attribute"), ("leave this line out", "")),
    "root_type": ("every struct may be a root: leave this line out", ""),
}  # fmt: skip

# Words of other languages that begin a line which declares nothing that the rest of a file could name.
INCLUDES = frozenset(("include", "cpp_include", "native_include", "use", "require"))
HEADERS = INCLUDES | frozenset(
    (
        *("syntax", "edition", "package", "option", "namespace", "mod"),
        *("root_type", "file_identifier", "file_extension", "attribute"),
    )
)

# Words before a field or method that mean nothing here.
MODIFIERS = frozenset(
    (
        *("public", "private", "protected", "internal", "final", "abstract", "virtual", "override", "inline"),
        *(
            "const",
            "mutable",
            "static",
            "readonly",
            "pub",
            "export",
            "required",
            "let",
            "var",
            "val",
            "extern",
        ),
        *("rpc", "def", "fn", "func", "function", "async", "void", "sealed", "unsigned", "partial"),
    )
)

# Words before a parameter that give its direction.
DIRECTIONS = {
    "in": "leave `in` out: `{0}: {1}`",
    **dict.fromkeys(("out", "inout"), "results stand behind `->`: `-> ({0}: {1})`"),
}

# Words before a field that say something about its type.
LABELS = {"optional": "{0}?", "repeated": "list<{0}>"}

# Words of values.
VALUES = {
    **dict.fromkeys(("True", "TRUE", "yes", "on"), "write `true`"),
    **dict.fromkeys(("False", "FALSE", "no", "off"), "write `false`"),
    **dict.fromkeys(
        ("None", "none", "null", "nullptr", "NULL", "nil", "undefined", "nullopt"),
        "what is optional is absent by itself: leave the default out",
    ),
    **dict.fromkeys(("Infinity", "INFINITY", "infinity", "Inf"), "write `inf`"),
    **dict.fromkeys(("NaN", "NAN", "Nan"), "write `nan`"),
}


def type_advice(name: str) -> str | None:
    """What to write instead of an unknown type, if it is a name of another language."""
    known = TYPES.get(name, TYPES.get(name.lower()))
    return f"write `{known}`" if known else TYPE_ADVICE.get(name)


def here(type_name: str) -> str:
    """The name in this language of a type of another language; any other name unchanged."""
    return TYPES.get(type_name, type_name)
