"""F6. The names of generated code: one allocator per scope, one rule for every collision.

The rule (docs/generated-code.md): a schema's name is kept as it is written. Where it is a reserved word of
the target language, a name that the generator itself uses in that scope, or already taken, it gets a trailing
underscore, and another, until it is free. Names that the generator adds are built from the schema's *written*
names.

So a generator opens a `Scope` per scope of the target language with the words reserved there, takes the names
that it adds, and only then those of the schema, all in the order of the schema: the result depends on that
module alone, and every module that imports it comes to the same names.
"""

import re
from collections.abc import Iterable


class Scope:
    """The names of one scope of the target language."""

    def __init__(self, *reserved: Iterable[str]) -> None:
        self._taken: set[str] = set().union(*reserved)

    def take(self, wanted: str) -> str:
        """`wanted`, or the first of wanted_, wanted__, ... that is free. It is taken from now on."""
        name = wanted
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name


def camel(name: str) -> str:
    """collection_id -> CollectionId; letters that are capital already stay so: getURL -> GetURL."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """NoSuchCollection -> no_such_collection, HTTPServer -> http_server."""
    spaced = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CPP_KEYWORDS = _words(
    """
    alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
    break case catch char char8_t char16_t char32_t class compl concept const consteval constexpr
    constinit const_cast continue co_await co_return co_yield decltype default delete do double
    dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
    namespace new noexcept not not_eq nullptr operator or or_eq private protected public reflexpr
    register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch synchronized template this thread_local throw true try typedef typeid typename union unsigned
    using virtual void volatile wchar_t while xor xor_eq
    """
)

# Macros of the C and POSIX headers, and of the compilers in their GNU dialect, that a schema may well use as
# names. (C headers that take `major` from sys/sysmacros.h still exist.)
CPP_MACROS = _words(
    """
    BUFSIZ CHAR_BIT CHAR_MAX CHAR_MIN DBL_MAX DBL_MIN DOMAIN EDOM EOF ERANGE ERROR EXIT_FAILURE
    EXIT_SUCCESS FALSE FILENAME_MAX FLT_MAX FLT_MIN FOPEN_MAX HUGE_VAL INFINITY INT_MAX INT_MIN IN OUT
    LONG_MAX LONG_MIN L_tmpnam NAN NDEBUG NULL OPTIONAL OVERFLOW PATH_MAX RAND_MAX SEEK_CUR SEEK_END
    SEEK_SET SHRT_MAX SHRT_MIN SIGABRT SIGFPE SIGILL SIGINT SIGSEGV SIGTERM SIG_DFL SIG_ERR SIG_IGN
    SIZE_MAX TMP_MAX TRUE UCHAR_MAX UINT_MAX ULONG_MAX UNDERFLOW USHRT_MAX assert errno linux major
    makedev minor offsetof setjmp stderr stdin stdout unix va_arg va_copy va_end va_start
    """
)

# What may not name anything in generated C++, whatever the scope: `mf` and `std` because everything is found
# through them, the rest because the preprocessor or the language has it.
CPP_RESERVED = CPP_KEYWORDS | CPP_MACROS | {"mf", "std", "override", "final"}

PYTHON_KEYWORDS = _words(
    """
    False None True and as assert async await break class continue def del elif else except finally for
    from global if import in is lambda nonlocal not or pass raise return try while with yield
    """
)

# Builtins and soft keywords stay usable as names of fields and methods; a generator reserves in a scope of
# its own what its code uses there. `mf` is the runtime's package.
PYTHON_RESERVED = PYTHON_KEYWORDS | {"mf", "__debug__"}
