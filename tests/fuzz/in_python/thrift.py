"""`mfidlc import` of .thrift files."""

from tests.fuzz.in_python.harness import Target
from tests.fuzz.in_python.imported import refusal, seeds

WORDS = tuple(
    word.encode()
    for word in (
        *(
            "namespace",
            "include",
            "typedef",
            "enum",
            "senum",
            "struct",
            "union",
            "exception",
            "const",
            "service",
        ),
        *(
            "extends",
            "throws",
            "oneway",
            "async",
            "void",
            "required",
            "optional",
            "list<",
            "set<",
            "map<",
            ">",
            "&",
        ),
        *(
            "bool",
            "i8",
            "i64",
            "double",
            "string",
            "binary",
            "uuid",
            "slist",
            "Node",
            "Kind",
            "Point",
            "Rows",
            "Base",
        ),
        *(
            '"',
            "'",
            "/*",
            "*/",
            "//",
            "#",
            "/**",
            "\\",
            "{",
            "}",
            "(",
            ")",
            "[",
            "]",
            "=",
            ":",
            ",",
            ";",
            "1:",
            "-1:",
        ),
        *("0x7fffffffffffffff", "9223372036854775808", "1e999", "-0", "nan", '""', "\ufeff", "\x00", "é"),
    )
)
TARGET = Target("thrift", seeds("thrift"), refusal(".thrift"), WORDS, cost=20)
