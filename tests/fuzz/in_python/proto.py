"""`mfidlc import` of .proto files: what protoc makes of them, by Debian's protoc alone, which takes the least
time.
"""

from mfidl.foreign import Options
from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.imported import refusal, seeds

WORDS = tuple(
    word.encode()
    for word in (
        *(
            "syntax",
            "package",
            "import",
            "option",
            "message",
            "enum",
            "service",
            "rpc",
            "returns",
            "stream",
            "oneof",
        ),
        *(
            "extend",
            "extensions",
            "reserved",
            "group",
            "map<",
            ">",
            "optional",
            "required",
            "repeated",
            "to max",
        ),
        *(
            "int32",
            "uint64",
            "sint32",
            "fixed64",
            "sfixed32",
            "bool",
            "string",
            "bytes",
            "float",
            "double",
            "Node",
        ),
        *(
            "[default = 1]",
            "[packed = true]",
            "[json_name = 'x']",
            "[deprecated = true]",
            "inf",
            "nan",
            "-0",
            "1e999",
        ),
        *(
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "=",
            ",",
            ";",
            '"',
            "//",
            "/*",
            "*/",
            "1",
            "19000",
            "536870911",
            "2147483648",
        ),
    )
)
TARGET = Target("proto", seeds("proto"), refusal(".proto", Options(protoc="protoc")), WORDS, cost=40)
