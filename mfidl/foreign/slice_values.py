"""F6. Constants and defaults of Slice files as values of their types."""

import re
from collections.abc import Callable

from mfidl.foreign import draft
from mfidl.foreign.draft import Builtin, Project, Ref
from mfidl.foreign.numbers import fits, float_fits, float_literal, whole
from mfidl.foreign.scan import Refused, Unwritable
from mfidl.foreign.slice_syntax import Value
from mfidl.foreign.texts import text_in_quotes
from mfidl.source import Span

_DIGITS = re.compile(r"-?[0-9]+")
_INTEGERS = ("u8", "i16", "i32", "i64")


class Values:
    """Makes the values of a run. `find` gives the key of what a name means in a module.

    They raise Refused if the file is wrong, Unwritable if a schema cannot say them.
    """

    def __init__(self, project: Project, find: Callable[[str, str], str | None]) -> None:
        self._project = project
        self._find = find

    def of(self, type_: draft.Type, value: Value, scope: str) -> draft.Value:
        bare = self._project.bare(type_)
        if value.kind == "name":
            return self._named(bare, value, scope)
        match bare:
            case Builtin("bool") if value.kind == "bool":
                return draft.Literal(value.text)
            case Builtin("f32" | "f64" as word) if value.kind == "float":
                return _float(word, float(value.text.rstrip("fF")), value.text, value.span)
            case Builtin(word) if value.kind == "int":
                return _number(word, _whole(value), value.text, value.span)
            case Builtin("string") if value.kind == "text":
                parts = (text_in_quotes(each.text, each.span, keep_unknown=True) for each in value.parts)
                return draft.string_literal("".join(parts))
        raise Refused(value.span, "this value does not fit its type")

    def number(self, value: Value, scope: str) -> int:
        """The whole number that an enumerator has: written, or that of a constant or enumerator."""
        if value.kind == "int":
            return _whole(value)
        if value.kind == "name":
            found = self._named(Builtin("i64"), value, scope)
            found = self._resolved(found)
            if isinstance(found, draft.Literal) and _DIGITS.fullmatch(found.text):
                return int(found.text)
        raise Refused(value.span, "expected a whole number")

    def _named(self, bare: draft.Type, value: Value, scope: str) -> draft.Value:
        """An enumerator, alone or behind its enum or module, or a constant."""
        expected = self._project.of(bare.key) if isinstance(bare, Ref) else None
        if isinstance(expected, draft.Enum):
            name = value.text.rpartition("::")[2]
            if expected.declares(name):
                return draft.Named(expected.key, _member(expected, name, value).name)
        key = self._find(value.text, scope)
        if key in self._project.left_out:
            raise Unwritable(value.span, f"`{value.text}` is left out")
        declared = self._project.of(key) if key is not None and self._project.knows(key) else None
        if isinstance(declared, draft.Const):
            same = self._project.bare(declared.type) == bare
            found = draft.Named(declared.key) if same else self._resolved(declared.value)
            return found if same else _converted(bare, found, value.span)
        enumerator = self._enumerator(value, scope)
        if enumerator is not None and expected is None:
            return _converted(bare, draft.Literal(str(enumerator.number)), value.span)
        raise Refused(value.span, f"`{value.text}` is no constant that is known here")

    def _enumerator(self, value: Value, scope: str) -> draft.EnumMember | None:
        """One whose name has its enum before it, or one of an enum of this module or one around it."""
        holder, _, name = value.text.rpartition("::")
        key = self._find(holder, scope) if holder else None
        enum = self._project.of(key) if key is not None and self._project.knows(key) else None
        if isinstance(enum, draft.Enum):
            return _member(enum, name, value) if enum.declares(name) else None
        while True:
            around = holder if holder.startswith("::") else f"{scope}::{holder}" if holder else scope
            for each in self._project.within(around):
                if isinstance(each, draft.Enum) and each.declares(name):
                    return _member(each, name, value)
            if not scope or holder.startswith("::"):
                return None
            scope = scope.rpartition("::")[0]

    def _resolved(self, value: draft.Value) -> draft.Value:
        """A value without the names of constants; an enumerator is its number."""
        while isinstance(value, draft.Named):
            declared = self._project.of(value.key)
            if isinstance(declared, draft.Const):
                value = declared.value
            else:
                assert isinstance(declared, draft.Enum)
                member = declared.member_called(value.member)
                assert member is not None
                value = draft.Literal(str(member.number))
        return value


def _member(enum: draft.Enum, name: str, value: Value) -> draft.EnumMember:
    """The member that the enum declares by this name."""
    member = enum.member_called(name)
    if member is None:
        raise Unwritable(value.span, f"`{value.text}` is left out")
    return member


def _whole(value: Value) -> int:
    return whole(value.text, value.span, octal=True)


def _converted(bare: draft.Type, value: draft.Value, span: Span) -> draft.Value:
    if isinstance(bare, Builtin) and isinstance(value, draft.Literal):
        text = value.text
        if bare.word in ("f32", "f64") and text[:1] in "-.0123456789":
            return _float(bare.word, float(text), text, span)
        if bare.word in _INTEGERS and _DIGITS.fullmatch(text):
            return _number(bare.word, int(text), text, span)
        if bare.word == "string" and text.startswith('"'):
            return value
    raise Refused(span, "this value does not fit its type")


def _number(word: str, number: int, text: str, span: Span) -> draft.Value:
    if word in ("f32", "f64"):
        return draft.Literal(str(number)) if abs(number) < 2**63 else _float(word, float(number), text, span)
    if word not in _INTEGERS:
        raise Refused(span, "this value does not fit its type")
    if not fits(word, number):
        raise Unwritable(span, f"{text} does not fit {word}")
    return draft.Literal(str(number))


def _float(word: str, number: float, text: str, span: Span) -> draft.Value:
    if not float_fits(word, number):
        raise Unwritable(span, f"{text} does not fit {word}")
    return float_literal(number)
