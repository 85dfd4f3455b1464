"""F6. Constants and defaults of .thrift files as values of their types."""

import codecs
import math

from mfidl.foreign import draft
from mfidl.foreign.draft import Project
from mfidl.foreign.scan import Refused
from mfidl.foreign.thrift_syntax import Constant


class Names:
    """What names of values mean in one file: it answers with the key of a declaration, or None."""

    def __init__(self, project: Project, prefixes: dict[str, str], own: str) -> None:
        self._project = project
        self._prefixes = prefixes  # stem of an included file: prefix of its keys
        self._own = own

    def find(self, name: str) -> str | None:
        for key in self._keys(name):
            if self._project.knows(key):
                return key
        return None

    def _keys(self, name: str) -> list[str]:
        stem, _, rest = name.partition(".")
        keys = [self._own + name]
        return [self._prefixes[stem] + rest, *keys] if rest and stem in self._prefixes else keys

    def member(self, name: str) -> tuple[str, str] | None:
        """The enum and the member of it that `Enum.MEMBER` names."""
        holder, _, member = name.rpartition(".")
        key = self.find(holder) if holder else None
        if key is None or not isinstance(self._project.of(key), draft.Enum):
            return None
        return key, member


class Values:
    """Makes the values of one file."""

    def __init__(self, project: Project, names: Names) -> None:
        self._project = project
        self._names = names
        self._defaulted: set[int] = set()

    def has_default(self, member: draft.Member) -> None:
        """Says of a member that it will have a default, which may not be known yet."""
        self._defaulted.add(id(member))

    def of(self, type_: draft.Type, constant: Constant) -> draft.Value:
        bare = self._project.bare(draft.present(type_))
        if constant.kind == "name" and constant.text not in ("true", "false"):
            return self._named(bare, constant)
        match bare:
            case draft.Builtin(word):
                return self._scalar(word, constant)
            case draft.ListOf(element) if constant.kind == "list":
                return draft.ListValue(tuple(self.of(element, each) for each in constant.parts))
            case draft.SetOf(element) if constant.kind == "list":
                elements = dict.fromkeys(self.of(element, each) for each in constant.parts)
                return draft.ListValue(tuple(elements))
            case draft.MapOf(key, value) if constant.kind == "map" or not constant.parts:
                pairs = zip(constant.parts[::2], constant.parts[1::2], strict=True)
                entries = {self.of(key, k): self.of(value, v) for k, v in pairs}  # the last one counts
                return draft.MapValue(tuple(entries.items()))
            case draft.Ref(key):
                return self._declared(self._project.of(key), constant)
        raise Refused(constant.span, "this value does not fit its type")

    def _named(self, bare: draft.Type, constant: Constant) -> draft.Value:
        """A constant, `Enum.MEMBER`, or a member alone where its enum is expected."""
        expected = self._project.of(bare.key) if isinstance(bare, draft.Ref) else None
        found = self._names.member(constant.text)
        if found is None and isinstance(expected, draft.Enum):
            name = constant.text.rpartition(".")[2]
            if any(each.name == name for each in expected.members):
                found = (expected.key, name)
        if found is not None:
            enum = self._project.of(found[0])
            assert isinstance(enum, draft.Enum)
            number = next((each.number for each in enum.members if each.name == found[1]), None)
            if number is None:
                raise Refused(constant.span, f"enum `{enum.name}` has no member `{found[1]}`")
            if isinstance(expected, draft.Enum):
                return draft.Named(*found)
            return draft.Literal(str(number))
        key = self._names.find(constant.text)
        if key is None or not isinstance(self._project.of(key), draft.Const):
            raise Refused(constant.span, f"`{constant.text}` is no constant that is known here")
        return draft.Named(key)

    def _declared(self, declaration: draft.Declaration, constant: Constant) -> draft.Value:
        if isinstance(declaration, draft.Enum) and constant.kind == "int":
            member = declaration.member_of(_whole(constant.text))
            if member is not None:
                return draft.Named(declaration.key, member)
            raise Refused(constant.span, f"enum `{declaration.name}` has no member {constant.text}")
        if isinstance(declaration, draft.Struct) and (constant.kind == "map" or not constant.parts):
            members = {each.name: each for each in declaration.members}
            fields: list[tuple[str, draft.Value]] = []
            for key, held in zip(constant.parts[::2], constant.parts[1::2], strict=True):
                name = _text(key)
                if name not in members:
                    raise Refused(key.span, f"struct `{declaration.name}` has no field `{name}`")
                fields.append((name, self.of(members[name].type, held)))
            return draft.StructValue(
                (*fields, *self._rest(declaration, {name for name, _ in fields}, constant))
            )
        raise Refused(constant.span, f"this is no value of `{declaration.name}`")

    def _rest(
        self, struct: draft.Struct, given: set[str], constant: Constant
    ) -> list[tuple[str, draft.Value]]:
        """The fields that a value leaves out: in Thrift they are zero, or empty, if nothing else is said."""
        if struct.kind == "union":
            return []
        return [
            (each.name, self._zero(each.type, constant))
            for each in struct.members
            if each.name not in given
            and not isinstance(each.type, draft.OptionalOf)
            and each.default is None
            and id(each) not in self._defaulted
        ]

    def _zero(self, type_: draft.Type, constant: Constant) -> draft.Value:
        match self._project.bare(type_):
            case draft.Builtin("bool"):
                return draft.Literal("false")
            case draft.Builtin("string" | "bytes"):
                return draft.Literal('""')
            case draft.Builtin("uuid"):
                return draft.string_literal("00000000-0000-0000-0000-000000000000")
            case draft.Builtin():
                return draft.Literal("0")
            case draft.ListOf() | draft.SetOf():
                return draft.ListValue(())
            case draft.MapOf():
                return draft.MapValue(())
            case draft.Ref(key):
                declaration = self._project.of(key)
                if isinstance(declaration, draft.Enum) and (member := declaration.member_of(0)) is not None:
                    return draft.Named(key, member)
                if isinstance(declaration, draft.Struct) and declaration.kind != "union":
                    return draft.StructValue(tuple(self._rest(declaration, set(), constant)))
        raise Refused(constant.span, "this value leaves out a field whose type has no zero")

    def _scalar(self, word: str, constant: Constant) -> draft.Value:
        match word, constant.kind:
            case "bool", "int":
                return draft.Literal("true" if _whole(constant.text) else "false")
            case "bool", "name":
                return draft.Literal(constant.text)
            case (("i8" | "i16" | "i32" | "i64"), "int"):
                return draft.Literal(str(_whole(constant.text)))
            case (("i8" | "i16" | "i32" | "i64"), "name"):  # true or false
                return draft.Literal(str(int(constant.text == "true")))
            case "f64", "int":
                return draft.Literal(str(_whole(constant.text)))
            case "f64", "float":
                value = float(constant.text)
                return draft.Literal(repr(value) if math.isfinite(value) else "inf" if value > 0 else "-inf")
            case (("string" | "uuid"), "text"):
                return draft.string_literal(_text(constant))
            case "bytes", "text":
                return draft.bytes_literal(_text(constant).encode("utf-8", "replace"))
        raise Refused(constant.span, f"this is no value of {word}")


def _whole(text: str) -> int:
    digits = text.lstrip("+-")
    value = int(digits, 16 if digits[:2].lower() == "0x" else 10)
    return -value if text.startswith("-") else value


def _text(constant: Constant) -> str:
    """What a text in quotes says; it has the escapes of C."""
    inner = constant.text[1:-1]
    if "\\" not in inner:
        return inner
    try:
        return codecs.decode(inner.encode("latin-1", "backslashreplace"), "unicode_escape")
    except UnicodeDecodeError:
        return inner.replace("\\", "")
