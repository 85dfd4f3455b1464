"""F6. Constants and defaults of .thrift files as values of their types."""

import math
import re
from collections.abc import Callable

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import Project
from mfidl.foreign.numbers import fits, float_literal, whole
from mfidl.foreign.scan import Refused, Unwritable
from mfidl.foreign.texts import bytes_in_quotes, text_in_quotes
from mfidl.foreign.thrift_syntax import Constant
from mfidl.source import Span

_ZERO_UUID = "00000000-0000-0000-0000-000000000000"
_UUID = re.compile(r"\{?([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})\}?")
_DEPTH_LIMIT = 40  # of constants and zeros that need each other
_INTEGERS = ("i8", "i16", "i32", "i64")


def key_of(file: str, name: str) -> str:
    """The key of what a file declares by this name."""
    return f"{file}::{name}"


class Names:
    """What names mean in one file: it answers with the key of a declaration, or None. `files` has the names
    of the files that it includes by their stems; several may have one stem, but only one of these may have
    declared what is looked for.
    """

    def __init__(self, project: Project, files: dict[str, list[str]], own: str) -> None:
        self._project = project
        self._files = files
        self._own = own

    def find(self, name: str, span: Span) -> str | None:
        parts = name.split(".")
        for end in range(1, len(parts)):  # a stem may have points, too
            stem, rest = ".".join(parts[:end]), ".".join(parts[end:])
            found = {file: key for file in self._files.get(stem, ()) if (key := self._declared(file, rest))}
            if len(found) > 1:
                first, second, *_ = found
                message = f"`{name}` is in two files that are called `{stem}`, `{first}` and `{second}`"
                raise Refused(span, message)
            if found:
                return next(iter(found.values()))
        return self._declared(self._own, name)

    def _declared(self, file: str, name: str) -> str | None:
        key = key_of(file, name)
        return key if self._project.knows(key) or key in self._project.left_out else None

    def member(self, name: str, span: Span) -> tuple[draft.Enum, str] | None:
        """The enum and the name in it that `Enum.MEMBER` means."""
        holder, _, member = name.rpartition(".")
        key = self.find(holder, span) if holder else None
        declared = self._project.of(key) if key is not None and self._project.knows(key) else None
        return (declared, member) if isinstance(declared, draft.Enum) else None


class Later:
    """What is done when all types of a file are known: each thing once, in order, or when another needs
    it.
    """

    def __init__(self) -> None:
        self._waiting: dict[str | int, Callable[[], None]] = {}
        self.depth = 0

    def add(self, key: str | int, action: Callable[[], None]) -> None:
        self._waiting[key] = action

    def do(self, key: str | int) -> None:
        action = self._waiting.pop(key, None)
        if action is not None:
            self.depth += 1
            action()
            self.depth -= 1

    def do_all(self) -> None:
        while self._waiting:
            self.do(next(iter(self._waiting)))


class Values:
    """Makes the values of one file. They raise Refused if the file is wrong, Unwritable if a schema cannot
    say them.

    `later` sets the defaults of members, by their identities, and constants, by their keys.
    """

    def __init__(self, project: Project, names: Names, later: Later, diagnostics: Diagnostics) -> None:
        self._project = project
        self._names = names
        self._later = later
        self._diagnostics = diagnostics
        self._zeros: list[str] = []  # the structs whose zero is being made

    def of(self, type_: draft.Type, constant: Constant) -> draft.Value:
        bare = self._project.bare(draft.present(type_))
        if constant.kind == "name" and constant.text not in ("true", "false"):
            return self._named(bare, constant)
        is_empty = constant.kind in ("list", "map") and not constant.parts
        match bare:
            case draft.Builtin(word):
                return self._scalar(word, constant)
            case draft.ListOf(element) if constant.kind == "list" or is_empty:
                return draft.ListValue(tuple(self.of(element, each) for each in constant.parts))
            case draft.SetOf(element) if constant.kind == "list" or is_empty:
                elements = dict.fromkeys(self.of(element, each) for each in constant.parts)
                return draft.ListValue(tuple(elements))
            case draft.MapOf(key, value) if constant.kind == "map" or is_empty:
                pairs = zip(constant.parts[::2], constant.parts[1::2], strict=True)
                entries = {self.of(key, k): self.of(value, v) for k, v in pairs}  # the last one counts
                return draft.MapValue(tuple(entries.items()))
            case draft.Ref(key):
                return self._declared(self._project.of(key), constant)
        raise Refused(constant.span, "this value does not fit its type")

    def zero(self, type_: draft.Type, span: Span) -> draft.Value:
        """The value of a field that is not sent and has no default: zero, or empty."""
        match self._project.bare(type_):
            case draft.Builtin("bool"):
                return draft.Literal("false")
            case draft.Builtin("string" | "bytes"):
                return draft.Literal('""')
            case draft.Builtin("uuid"):
                return draft.string_literal(_ZERO_UUID)
            case draft.Builtin():
                return draft.Literal("0")
            case draft.ListOf() | draft.SetOf():
                return draft.ListValue(())
            case draft.MapOf():
                return draft.MapValue(())
            case draft.Ref(key):
                declared = self._project.of(key)
                if isinstance(declared, draft.Enum) and (member := declared.member_of(0)) is not None:
                    return draft.Named(key, member)
                if isinstance(declared, draft.Struct) and declared.kind != "union" and self._may_nest(key):
                    self._zeros.append(key)
                    try:
                        return draft.StructValue(tuple(self._rest(declared, set(), span)))
                    finally:
                        self._zeros.pop()
        raise Unwritable(span, "a field that it leaves out has a type without a zero")

    def _may_nest(self, key: str) -> bool:
        return key not in self._zeros and len(self._zeros) < _DEPTH_LIMIT

    # Names -------------------------------------------------------------------------------------------------

    def _named(self, bare: draft.Type, constant: Constant) -> draft.Value:
        """A constant, `Enum.MEMBER`, or a member alone where its enum is expected."""
        expected = self._project.of(bare.key) if isinstance(bare, draft.Ref) else None
        found = self._names.member(constant.text, constant.span)
        name = constant.text.rpartition(".")[2]
        is_known = found is not None and found[0].declares(name)
        if not is_known and isinstance(expected, draft.Enum) and expected.declares(name):
            found = expected, name
        if found is not None:
            enum, name = found
            if name in enum.left_out:
                raise Unwritable(constant.span, f"`{constant.text}` is left out")
            member = enum.member_called(name)
            if member is None:
                raise Refused(constant.span, f"enum `{enum.name}` has no member `{name}`")
            return self._in_place(bare, draft.Named(enum.key, member.name), constant.span)
        key = self._names.find(constant.text, constant.span)
        if key is not None:
            if self._later.depth > _DEPTH_LIMIT:
                raise Refused(
                    constant.span, f"constants name each other more than {_DEPTH_LIMIT} levels deep"
                )
            self._later.do(key)
        if key in self._project.left_out:
            raise Unwritable(constant.span, f"`{constant.text}` is left out")
        declared = None if key is None else self._project.of(key)
        if not isinstance(declared, draft.Const):
            raise Refused(constant.span, f"`{constant.text}` is no constant that is known here")
        if self._project.bare(declared.type) == bare:
            return draft.Named(declared.key)
        return self._in_place(bare, declared.value, constant.span)

    def _in_place(self, bare: draft.Type, value: draft.Value, span: Span) -> draft.Value:
        """A value of another type, such as an enumerator for a number, or a constant list for a set."""
        expected = self._project.of(bare.key) if isinstance(bare, draft.Ref) else None
        while isinstance(value, draft.Named):
            if isinstance(expected, draft.Enum) and value.member and value.key == expected.key:
                return value
            declared = self._project.of(value.key)
            if isinstance(declared, draft.Const):
                value = declared.value
                continue
            assert isinstance(declared, draft.Enum)
            member = declared.member_called(value.member)
            assert member is not None
            value = draft.Literal(str(member.number))
        match bare, value:
            case draft.Builtin(word), draft.Literal(text) if re.fullmatch(r"-?[0-9]+", text):
                return self._number(word, int(text), text, span)
            case draft.Builtin("f64"), draft.Literal(text) if text[:1] not in ('"', "t", "f"):
                return value
            case draft.Builtin("string" | "bytes"), draft.Literal(text) if text.isascii() and text[:1] == '"':
                return value
            case draft.Ref(), draft.Literal(text) if isinstance(expected, draft.Enum) and _is_whole(text):
                return self._member_of(expected, int(text), text, span)
            case draft.ListOf(element) | draft.SetOf(element), draft.ListValue(elements):
                made = [self._in_place(self._project.bare(element), each, span) for each in elements]
                return draft.ListValue(tuple(dict.fromkeys(made) if isinstance(bare, draft.SetOf) else made))
        raise Unwritable(span, "it names a value of another type")

    # Structs and enums -------------------------------------------------------------------------------------

    def _declared(self, declared: draft.Declaration, constant: Constant) -> draft.Value:
        if isinstance(declared, draft.Enum) and constant.kind == "int":
            return self._member_of(
                declared, whole(constant.text, constant.span), constant.text, constant.span
            )
        is_braces = constant.kind == "map" or (constant.kind == "list" and not constant.parts)
        if not isinstance(declared, draft.Struct) or not is_braces:
            raise Refused(constant.span, f"this is no value of `{declared.name}`")
        members = {each.name: each for each in declared.members}
        fields: dict[str, draft.Value] = {}
        for key, held in zip(constant.parts[::2], constant.parts[1::2], strict=True):
            name = _text(key) if key.kind == "text" else key.text
            if name not in members:
                raise Refused(key.span, f"{declared.kind} `{declared.name}` has no field `{name}`")
            fields[name] = self.of(members[name].type, held)
        if declared.kind == "union" and len(fields) != 1:
            raise Unwritable(constant.span, f"a value of union `{declared.name}` has one alternative")
        rest = self._rest(declared, set(fields), constant.span)
        return draft.StructValue((*fields.items(), *rest))

    def _member_of(self, enum: draft.Enum, number: int, text: str, span: Span) -> draft.Value:
        member = enum.member_of(number)
        if member is None:
            raise Unwritable(span, f"enum `{enum.name}` has no member {text}")
        return draft.Named(enum.key, member)

    def _rest(self, struct: draft.Struct, given: set[str], span: Span) -> list[tuple[str, draft.Value]]:
        """The fields that a value leaves out, and that have no default: in Thrift they are zero, or empty."""
        if struct.kind == "union":
            return []
        made: list[tuple[str, draft.Value]] = []
        for each in struct.members:
            if each.name in given:
                continue
            self._later.do(id(each))
            if each.default is None and not isinstance(each.type, draft.OptionalOf):
                made.append((each.name, self.zero(each.type, span)))
        return made

    # Numbers and texts -------------------------------------------------------------------------------------

    def _scalar(self, word: str, constant: Constant) -> draft.Value:
        text, span = constant.text, constant.span
        match word, constant.kind:
            case _, "int":
                return self._number(word, whole(text, span), text, span)
            case "bool", "name":
                return draft.Literal(text)
            case _, "name" if word in _INTEGERS or word == "f64":  # true or false
                return draft.Literal(str(int(text == "true")))
            case "f64", "float":
                value = float(text)
                return (
                    float_literal(value)
                    if math.isfinite(value)
                    else draft.Literal("inf" if value > 0 else "-inf")
                )
            case "string", "text":
                return draft.string_literal(_text(constant))
            case "uuid", "text":
                found = _UUID.fullmatch(_text(constant))
                if found is None:
                    raise Refused(span, "this is no uuid")
                return draft.string_literal(found[1].lower())
            case "bytes", "text":
                return draft.bytes_literal(bytes_in_quotes(text, span))
        raise Refused(span, f"this is no value of {word}")

    def _number(self, word: str, number: int, text: str, span: Span) -> draft.Value:
        """A whole number where one is expected. One in hexadecimal digits means the bits of it."""
        if word == "bool":
            return draft.Literal("true" if number else "false")
        if word == "f64":
            return draft.Literal(str(number)) if abs(number) < 2**63 else float_literal(float(number))
        if word not in _INTEGERS:
            raise Refused(span, f"this is no value of {word}")
        return draft.Literal(str(as_signed(word, number, text, span, self._diagnostics)))


def as_signed(word: str, number: int, text: str, span: Span, diagnostics: Diagnostics) -> int:
    """The number as one of its type. `0xFFFFFFFF` is -1 as an i32, as it is in the programs that Thrift
    makes.
    """
    if fits(word, number):
        return number
    negative = number - (1 << int(word[1:]))
    if "x" in text.lower() and fits(word, negative):
        diagnostics.warning(
            "W1002", span, what=f"`{text}`", becomes=str(negative), reason=f"{word} has a sign"
        )
        return negative
    raise Unwritable(span, f"{text} does not fit {word}")


def _is_whole(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]+", text) is not None


def _text(constant: Constant) -> str:
    return text_in_quotes(constant.text, constant.span)
