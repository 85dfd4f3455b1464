"""F8. Pages of `mfidlc help` that are generated from the compiler's own tables."""

from collections.abc import Callable, Iterable

EXIT_CODES = (
    (0, "all is well; warnings change nothing"),
    (1, "there are errors in a schema or a value, or a command that compares or lints has findings"),
    (2, "wrong use of the command line"),
    (3, "a file could not be read or written; nothing was written"),
    (4, "a generator of others (--NAME OUT) or a template failed; nothing was written"),
    (70, "an error of the compiler itself; please report it (MFIDLC_DEBUG=1 shows the traceback)"),
    (130, "interrupted (Ctrl-C); nothing was left half-written"),
    (141, "the output is not read any more (a closed pipe)"),
)


def _codes() -> str:
    from mfidl.breaking.rules import RULES
    from mfidl.diagnostics import CATALOGUE

    every = (*CATALOGUE.values(), *RULES.values())
    return (
        "All codes of check, compile (E, W) and breaking (B); lint --list has those of lint (L).\n"
        "mfidlc help CODE explains one.\n\n"
        + _table((each.code, each.title) for each in sorted(every, key=lambda each: each.code))
    )


def _annotations() -> str:
    from mfidl.semantics.annotations import KNOWN, Place

    pieces = ["Annotations stand before a declaration or method, and behind a type or default.\n"]
    for known in KNOWN.values():
        places = ", ".join(place.value for place in Place if place in known.places)
        pieces.append(f"\n{known.usage}\n    goes with {places}\n")
    return "".join(pieces)


def _tiers() -> str:
    from mfidl import model

    qualifies = {
        "memcpy": "the little-endian memory layout, in one copy; a fixed size: bool, numbers, enums,"
        " flags, uuid, arrays and structs of such",
        "febird": "compact, field by field, without tags; any type without `ref`",
        "archive": "numbered fields, stored bytes that outlive the schema; valid protobuf",
        "custom": "the user's own codec, named per target language",
    }
    return (
        "How a struct is serialized. The compiler picks memcpy where a type qualifies, else febird;\n"
        "@tier(...) before a struct names one, and is an error where the struct cannot have it.\n"
        "mfidlc explain FILE says what was picked, and why.\n\n"
        + _table((tier.value, qualifies.get(tier.value, "")) for tier in model.Tier)
    )


def _types() -> str:
    from mfidl import model
    from mfidl.semantics.types import CODED

    scalars = " ".join(scalar.value for scalar in model.Scalar)
    return (
        f"Built in:   {scalars}\n"
        f"In archive: {' '.join(CODED)}  as existing protobuf has them\n"
        "Containers: list<T> set<T> map<K, V> array<T, N>\n"
        "            keys of maps and elements of sets: bool, integers, enums, string, bytes, uuid\n"
        "Optional:   T?  a value or nothing; there is no T??\n"
        "References: ref<T>  into a graph of objects, in archive structs\n"
        "Streams:    stream<T>  as a parameter or result of a method\n"
        "Declared:   struct, enum, flags, union, type (an alias); an error only behind `throws`\n"
    )


def _exit_codes() -> str:
    return "Exit codes of mfidlc.\n\n" + _table((str(code), text) for code, text in EXIT_CODES)


def _table(rows: Iterable[tuple[str, str]]) -> str:
    listed = list(rows)
    width = max(len(left) for left, _ in listed)
    return "".join(f"  {left:<{width}}  {right}\n" for left, right in listed)


PAGES: dict[str, Callable[[], str]] = {
    "codes": _codes,
    "annotations": _annotations,
    "tiers": _tiers,
    "types": _types,
    "exit-codes": _exit_codes,
}
