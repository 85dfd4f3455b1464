"""R0. From the texts of a descriptor and its annex to a Schema. They may come from a hostile peer: whatever
is no descriptor that a compiler writes is refused in words, and everything has a bound.

What is left unread of an annex: constraints, which the reader of the values checks, and what a topic keeps.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator

from mf.evolution.measure import measure
from mf.evolution.schema import Declared, Field, Fields, Method, Schema
from mf.evolution.types import (
    FULL_NAME,
    IDENTIFIER,
    KEYS,
    SIGNED,
    UNSIGNED,
    ArrayOf,
    ListOf,
    MapOf,
    Named,
    OptionalOf,
    RefTo,
    Scalar,
    SchemaError,
    SetOf,
    Type,
    parse,
    parts,
    quoted,
    spell,
)

MOST_BYTES = 1 << 20
"""Of each text."""
MOST_TYPES = 4096
MOST_METHODS = 65_535
MOST_LEVELS = 64
"""Of structs in memory, one within the other."""

_TIERS = ("memcpy", "febird")
_NUMBER = re.compile(r"-?[0-9]{1,20}\Z")
_LAST_FIELD = (1 << 29) - 1
_LAST_ALTERNATIVE = (1 << 32) - 1


class Line:
    """A line and those under it."""

    __slots__ = ("rest", "under", "word")

    def __init__(self, word: str = "", rest: str = "") -> None:
        self.word = word
        self.rest = rest
        self.under: list[Line] = []

    def get(self, word: str, rest: str | None = None) -> "Line":
        """The first one under it; an empty one if there is none."""
        return next((each for each in self.under if each.word == word and rest in (None, each.rest)), Line())


def line_tree(text: str, what: str) -> Line:
    """The lines of a descriptor or annex by how far they are indented, under one line above them all. `what`:
    which of the two. Raises SchemaError.
    """
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise SchemaError(f"a descriptor or annex is longer than {MOST_BYTES} bytes")
    if not text.endswith("\n"):
        if not text and what == "descriptor":
            raise SchemaError("a descriptor names no service, topic or value")
        raise SchemaError(f"the {what} does not end with a line feed")
    root = Line()
    above = [root]
    for line in text[:-1].split("\n"):
        stripped = line.lstrip(" ")
        depth = len(line) - len(stripped)
        if not stripped or depth >= len(above):
            raise _under_nothing()
        if depth > 2 * MOST_LEVELS:
            raise SchemaError(f"the {what} is nested too deep")
        word, _, rest = stripped.partition(" ")
        made = Line(word, rest)
        above[depth].under.append(made)
        del above[depth + 1 :]
        above.append(made)
    return root


def _under_nothing() -> SchemaError:
    return SchemaError("a line is nested under one that takes no such lines")


def read(descriptor: str, annex: str = "") -> Schema:
    """Raises SchemaError."""
    return _Reading(descriptor, annex).schema


class _Earlier:
    """What an annex says of fields, by name."""

    __slots__ = ("_fields",)

    def __init__(self, lines: Iterable[Line]) -> None:
        self._fields = {line.word: line for line in lines}

    def of(self, name: str) -> tuple[tuple[str, ...], str | None]:
        """Earlier names, and the default."""
        line = self._fields.get(name)
        if line is None:
            return (), None
        default = next((each.rest for each in line.under if each.word == "default"), None)
        return _was(line.under), default


def _was(lines: Iterable[Line]) -> tuple[str, ...]:
    return tuple(line.rest for line in lines if line.word == "was" and IDENTIFIER.match(line.rest))


_NOTHING = _Earlier(())


class _Reading:
    __slots__ = ("_annex_methods", "_annex_types", "schema")

    def __init__(self, descriptor: str, annex: str) -> None:
        lines = line_tree(descriptor, "descriptor").under
        head = lines[0]
        if head.word not in ("service", "topic", "value") or not FULL_NAME.match(head.rest):
            if head.word in ("service", "topic", "value"):
                raise SchemaError(f"{quoted(head.rest)} is no name of a type")
            raise SchemaError("a descriptor begins with none of service, topic and value")
        self._annex_methods: dict[str, Line] = {}
        self._annex_types: dict[str, Line] = {}
        if annex:
            self._read_annex(line_tree(annex, "annex").under, head.rest)
        per, value, methods = self._head(head)
        types = self._types(lines[1:])
        digest = hashlib.sha256(descriptor.encode("utf-8", "surrogatepass")).digest()[:16]
        self.schema = Schema(head.word, head.rest, per, methods, value, types, digest)
        _Checks(self.schema).run()

    # The annex

    def _read_annex(self, lines: list[Line], name: str) -> None:
        if lines[0].word != "annex" or lines[0].rest != name:
            raise SchemaError(
                f"an annex describes {quoted(lines[0].rest)}, which the descriptor does not have"
            )
        self._annex_methods = {line.rest: line for line in lines[0].under if line.word == "method"}
        self._annex_types = {line.rest: line for line in lines[1:] if line.word == "type"}

    # The service

    def _head(self, head: Line) -> tuple[tuple[str, Type] | None, Type | None, dict[str, Method]]:
        per: tuple[str, Type] | None = None
        value: Type | None = Named(head.rest) if head.word == "value" else None
        methods: dict[str, Method] = {}
        for line in head.under:
            if line.word == "per" and per is None:
                name, _, expression = line.rest.partition(" ")
                per = _identifier(name), parse(expression)
            elif line.word == "value" and head.word == "topic" and value is None:
                value = parse(line.rest)
            elif line.word == "method" and head.word == "service":
                if _identifier(line.rest) in methods:
                    raise SchemaError(f"method {quoted(line.rest)} is there twice")
                methods[line.rest] = self._method(line)
            else:
                raise _misplaced(line)
        if head.word == "topic" and value is None:
            raise SchemaError("the descriptor of a topic says nothing of its value")
        if len(methods) > MOST_METHODS:
            raise SchemaError(f"the descriptor has more than {MOST_METHODS} methods")
        return per, value, methods

    def _method(self, line: Line) -> Method:
        said = self._annex_methods.get(line.rest)
        about = {each.word: _Earlier(each.under) for each in said.under} if said is not None else {}
        found: dict[str, Line] = {}
        throws: list[str] = []
        for each in line.under:
            if each.word == "throws":
                throws.append(_full_name(each.rest))
            elif each.word in _OF_METHODS and each.word not in found:
                found[each.word] = each
            else:
                raise _misplaced(each)
        oneway = "oneway" in found
        if "params" not in found:
            raise SchemaError(f"method {quoted(line.rest)} has no parameters' line")
        if ("results" in found) == oneway:
            raise SchemaError(f"method {quoted(line.rest)} has not the results that it should")
        none = Fields("memcpy")
        return Method(
            line.rest,
            _fields(found["params"], about.get("params", _NOTHING)),
            none if oneway else _fields(found["results"], about.get("results", _NOTHING)),
            _was(said.under) if said is not None else (),
            oneway,
            found["replicated"].rest if "replicated" in found else "",
            parse(found["params_stream"].rest) if "params_stream" in found else None,
            parse(found["results_stream"].rest) if "results_stream" in found else None,
            tuple(throws),
        )

    # Types

    def _types(self, lines: list[Line]) -> dict[str, Declared]:
        if len(lines) > MOST_TYPES:
            raise SchemaError(f"there are more than {MOST_TYPES} types")
        types: dict[str, Declared] = {}
        for line in lines:
            name, _, head = line.rest.partition(" ")
            if line.word != "type":
                raise _misplaced(line)
            if _full_name(name) in types:
                raise SchemaError(f"type {quoted(name)} is declared twice")
            said = self._annex_types.get(name)
            about = _NOTHING if said is None else _Earlier(said.under)
            types[name] = _declared(name, head.split(" "), line.under, about)
        return types


_OF_METHODS = frozenset(("oneway", "replicated", "params", "params_stream", "results", "results_stream"))


def _misplaced(line: Line) -> SchemaError:
    return SchemaError(f"a line begins with the unknown word {quoted(line.word)}")


def _identifier(name: str) -> str:
    if len(name) > 1024 or not IDENTIFIER.match(name):
        raise SchemaError(f"{quoted(name)} is no name")
    return name


def _full_name(name: str) -> str:
    if len(name) > 1024 or not FULL_NAME.match(name):
        raise SchemaError(f"{quoted(name)} is no name of a type")
    return name


def _fields(line: Line, about: _Earlier) -> Fields:
    if line.rest not in _TIERS:
        raise SchemaError(f"the parameters or results of a method are of tier {quoted(line.rest)}")
    return Fields(line.rest, _members("", line.under, False, about, _LAST_FIELD))


def _members(
    owner: str, lines: Iterable[Line], numbered: bool, about: _Earlier, last: int
) -> tuple[Field, ...]:
    fields: list[Field] = []
    names: set[str] = set()
    before = 0
    for line in lines:
        name, number, expression = _identifier(line.word), 0, line.rest
        if numbered:
            text, colon, expression = line.rest.partition(": ")
            number = int(text) if _NUMBER.match(text) else 0
            if not colon or not 0 < number <= last:
                raise SchemaError(f"the field {quoted(name)} has no number")
            if number <= before:
                raise SchemaError(f"the numbers of fields do not ascend at {quoted(name)}")
            before = number
        if name in names:
            raise SchemaError(f"field {quoted(name)} of {quoted(owner)} is there twice")
        names.add(name)
        if line.under:
            raise _under_nothing()
        fields.append(Field(name, parse(expression), number, *about.of(name)))
    return tuple(fields)


def _declared(name: str, head: list[str], lines: list[Line], about: _Earlier) -> Declared:
    match head:
        case ["struct" | "error" as kind, "memcpy" | "febird" | "archive" | "custom" as tier]:
            if tier == "custom" and lines:
                raise SchemaError("a type of tier custom has fields")
            return Declared(name, kind, tier, _members(name, lines, tier == "archive", about, _LAST_FIELD))
        case ["union", "febird" | "archive" as tier]:
            last = _LAST_FIELD if tier == "archive" else _LAST_ALTERNATIVE
            fields = _members(name, lines, True, about, last)
            if not fields:
                raise SchemaError(f"union {quoted(name)} has no alternatives")
            return Declared(name, "union", tier, fields)
        case ["enum", base, "open" | "closed" as openness] if base in (*UNSIGNED, *SIGNED):
            members = _numbers(name, lines, *_range(base))
            if not members:
                raise SchemaError(f"enum {quoted(name)} has no members")
            return Declared(name, "enum", base=base, open=openness == "open", members=members)
        case ["flags", base] if base in UNSIGNED:
            bits = int(base[1:])
            return Declared(name, "flags", base=base, open=True, members=_numbers(name, lines, 0, bits - 1))
        case ["struct" | "error" | "union", *_]:
            raise SchemaError(f"type {quoted(name)} is of no known tier: {quoted(' '.join(head))}")
        case ["enum", base, *_] if base in (*UNSIGNED, *SIGNED):
            raise SchemaError(f"enum {quoted(name)} is neither open nor closed")
        case ["enum" | "flags", *_]:
            raise SchemaError(f"type {quoted(name)} has no integer as its base")
        case _:
            raise SchemaError(f"type {quoted(name)} is of no known kind: {quoted(' '.join(head))}")


def _range(scalar: str) -> tuple[int, int]:
    """The smallest and largest value of an integer type."""
    bits = int(scalar[1:])
    if scalar[0] == "u":
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def _numbers(name: str, lines: Iterable[Line], low: int, high: int) -> dict[str, int]:
    found: dict[str, int] = {}
    before = low - 1
    for line in lines:
        member = _identifier(line.word)
        number = int(line.rest) if _NUMBER.match(line.rest) else low - 1
        if not low <= number <= high:
            raise SchemaError(f"the number of {quoted(member)} is none of its type")
        if number <= before:
            raise SchemaError(f"the numbers of members do not ascend at {quoted(member)}")
        if member in found:
            raise SchemaError(f"member {quoted(member)} of {quoted(name)} is there twice")
        if line.under:
            raise _under_nothing()
        found[member] = before = number
    return found


class _Checks:
    """That what the lines say fits together: names that exist, tiers that can be, values that have an end."""

    __slots__ = ("_schema", "_types")

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._types = schema.types

    def run(self) -> None:
        schema = self._schema
        if schema.per is not None:
            self._of(schema.per[1], "the agent", self._as_key)
        if schema.value is not None:
            self._of(schema.value, "the value", self._as_any)
        for method in schema.methods.values():
            for fields in (method.params, method.results):
                self._fields(fields.fields, fields.tier, method.name)
            for stream in (method.params_stream, method.results_stream):
                if stream is not None:
                    self._of(stream, f"the stream of {method.name}", self._as_any)
            for error in method.throws:
                known = self._types.get(error)
                if known is None or known.kind != "error":
                    raise SchemaError(f"the error {quoted(error)} is not declared")
        for declared in self._types.values():
            self._fields(declared.fields, declared.tier, declared.name)
        measure(schema, self._levels())

    def _fields(self, fields: Iterable[Field], tier: str, owner: str) -> None:
        allowed = {"memcpy": self._as_fixed, "archive": self._as_archive}.get(tier, self._as_any)
        without = f"type {quoted(owner)} is of tier memcpy, but a field of it has no layout"
        for field in fields:
            of_memory = tier == "memcpy" and owner in self._types
            self._of(field.type, f"{owner}.{field.name}", allowed, without if of_memory else "")

    def _of(self, type_: Type, place: str, allowed: Callable[[Type], bool], why: str = "") -> None:
        if not allowed(type_):
            self._tell(type_)
            raise SchemaError(why or f"{place} has a type that cannot be there")

    def _tell(self, type_: Type) -> None:
        """Why it can be nowhere, if that is so."""
        match type_:
            case Named(name) if name not in self._types:
                raise SchemaError(f"the type {quoted(name)} is not declared")
            case SetOf(key) | MapOf(key, _) if not self._as_key(key, coded=True) and not parts(key):
                self._tell(key)
                name = key.name if isinstance(key, Named) else spell(key)
                raise SchemaError(f"a key cannot be of type {quoted(name)}")
        for part in parts(type_):
            self._tell(part)

    def _as_fixed(self, type_: Type) -> bool:
        match type_:
            case Scalar(name, coding):
                return name not in ("string", "bytes") and not coding
            case Named(name):
                found = self._types.get(name)
                return found is not None and (found.base != "" or found.tier == "memcpy")
            case ArrayOf(element, _):
                return self._as_fixed(element)
            case _:
                return False

    def _as_any(self, type_: Type) -> bool:
        match type_:
            case Scalar(_, coding):
                return not coding
            case Named(name):
                return name in self._types
            case SetOf(element):
                return self._as_key(element)
            case MapOf(key, value):
                return self._as_key(key) and self._as_any(value)
            case OptionalOf(element):
                return not isinstance(element, OptionalOf) and self._as_any(element)
            case ListOf(element) | ArrayOf(element, _):
                return self._as_any(element)
            case RefTo():
                return False

    def _as_archive(self, type_: Type) -> bool:
        match type_:
            case Scalar():
                return True
            case SetOf(element):
                return self._as_key(element, coded=True)
            case RefTo(Named(name)):
                found = self._types.get(name)
                return found is not None and found.tier == "archive"
            case MapOf(key, value):
                return self._as_key(key, coded=True) and self._as_archive(value)
            case OptionalOf(element):
                return not isinstance(element, OptionalOf) and self._as_archive(element)
            case ListOf(element) | ArrayOf(element, _):
                return self._as_archive(element)
            case _:
                return self._as_any(type_)

    def _as_key(self, type_: Type, coded: bool = False) -> bool:
        match type_:
            case Scalar(name, coding):
                return name in KEYS and (coded or not coding)
            case Named(name):
                found = self._types.get(name)
                return found is not None and found.kind == "enum"
            case _:
                return False

    def _levels(self) -> Iterable[str]:
        """No struct holds itself by value, and none is nested too deep: such a value would have no end.
        Returns all types, what a struct holds before it."""
        heights: dict[str, int] = {}
        for name in self._types:
            if name in heights:
                continue
            stack: list[tuple[str, Iterator[str]]] = [(name, self._held(name))]
            open_names = {name}
            while stack:
                current, held = stack[-1]
                for inner in held:
                    if inner in open_names:
                        raise SchemaError(f"type {quoted(inner)} holds itself by value")
                    if inner not in heights:
                        stack.append((inner, self._held(inner)))
                        open_names.add(inner)
                        break
                else:
                    below = (heights[inner] for inner in self._held(current))
                    heights[current] = 1 + max(below, default=0)
                    if heights[current] > MOST_LEVELS:
                        raise SchemaError(f"type {current} is nested more than {MOST_LEVELS} levels deep")
                    open_names.discard(current)
                    stack.pop()
        return heights

    def _held(self, name: str) -> Iterator[str]:
        """Structs that each value of a struct holds."""
        declared = self._types[name]
        if declared.kind == "union":
            return
        for field in declared.fields:
            type_ = field.type
            while isinstance(type_, ArrayOf):
                type_ = type_.element
            if isinstance(type_, Named):
                yield type_.name


def graphs(schema: Schema) -> frozenset[str]:
    """The types of tier archive whose values refer to others, themselves or through what they hold."""
    holders: dict[str, list[str]] = {}
    found: list[str] = []
    for declared in schema.types.values():
        if declared.tier != "archive":
            continue
        inner: list[Type] = [field.type for field in declared.fields]
        refers = False
        while inner:
            type_ = inner.pop()
            refers = refers or isinstance(type_, RefTo)
            inner += parts(type_)
            if isinstance(type_, Named):
                holders.setdefault(type_.name, []).append(declared.name)
        if refers:
            found.append(declared.name)
    known = dict.fromkeys(found)
    for name in found:  # grows while it is walked
        new = [holder for holder in holders.get(name, ()) if holder not in known]
        known.update(dict.fromkeys(new))
        found += new
    return frozenset(found)
