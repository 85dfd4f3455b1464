"""F6. Slice files as drafts (docs/import.md)."""

import codecs

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import Builtin, Project, Ref
from mfidl.foreign.scan import Refused, Token
from mfidl.foreign.slice_syntax import Definition, Document, Member, Operation, Type
from mfidl.source import Span

_SCALARS = {
    "bool": "bool",
    "byte": "u8",
    "short": "i16",
    "int": "i32",
    "long": "i64",
    "float": "f32",
    "double": "f64",
    "string": "string",
}
_ANY_CLASS = ("Object", "::Ice::Object", "Value", "::Ice::Value", "LocalObject", "AnyClass", "AnyException")


class Slice:
    """Reads the files of one run, each behind those that it includes."""

    def __init__(self, project: Project, diagnostics: Diagnostics) -> None:
        self._project = project
        self._diagnostics = diagnostics
        self.definitions: dict[str, Definition] = {}
        self.interfaces: set[str] = set()
        self.derived: dict[str, list[str]] = {}

    def read(self, document: Document, name: str) -> None:
        for scope, token in document.forward:
            self.interfaces.add(f"{scope}::{token.text}")
        for each in document.definitions:
            key = _key(each)
            self.definitions[key] = each
            for base in each.bases:
                found = self.find(base.text, each.scope)
                if found is not None:
                    self.derived.setdefault(found, []).append(key)
        _File(self, document, name, self._project, self._diagnostics).read()

    def find(self, name: str, scope: str) -> str | None:
        """The key of a definition that a name means in a module."""
        if name.startswith("::"):
            return name if name in self.definitions or name in self.interfaces else None
        while True:
            key = f"{scope}::{name}"
            if key in self.definitions or key in self.interfaces:
                return key
            if not scope:
                return None
            scope = scope.rpartition("::")[0]


def _key(definition: Definition) -> str:
    return f"{definition.scope}::{definition.name.text}"


class _File:
    def __init__(
        self, run: Slice, document: Document, name: str, project: Project, diagnostics: Diagnostics
    ) -> None:
        self._run = run
        self._document = document
        self._project = project
        self._diagnostics = diagnostics
        common = _common([each.scope.split("::")[1:] for each in document.definitions])
        self._file = draft.File(document.source, name, tuple(common))
        self._outer = "".join(f"::{each}" for each in common)

    def read(self) -> None:
        for what, span in self._document.left_out:
            self._left_out(span, what)
        made = [(each, self._declaration(each)) for each in self._document.definitions]
        for _, each in made:
            self._project.place(self._file, each)
        for definition, each in made:
            self._fill(definition, each)
        self._file.declarations = [each for _, each in made]
        self._project.add(self._file)

    def _declaration(self, definition: Definition) -> draft.Declaration:
        """The declaration without what needs others."""
        inner = definition.scope[len(self._outer) :].replace("::", "")
        key = _key(definition)
        name, span, doc = inner + definition.name.text, definition.name.span, definition.doc
        made: draft.Declaration
        match definition.kind:
            case "struct" | "class":
                made = draft.Struct(key, name, span, doc=doc)
            case "exception":
                made = draft.Struct(key, name, span, doc=doc, kind="error")
            case "interface":
                made = draft.Service(key, name, span, doc=doc)
            case "enum":
                made = self._enum(definition, key, name)
            case "const":
                made = draft.Const(key, name, span, doc=doc)
            case _:
                made = draft.Alias(key, name, span, doc=doc)
        if any(each.startswith("deprecate") for each in definition.metadata):
            made.annotations.append("@deprecated")
        return made

    def _enum(self, definition: Definition, key: str, name: str) -> draft.Enum:
        made = draft.Enum(key, name, definition.name.span, doc=definition.doc, open=False)
        number = -1
        for token, written in definition.enumerators:
            number = number + 1 if written is None else written
            made.members.append(draft.EnumMember(token.text.lstrip("\\"), number, doc=token.doc))
        return made

    def _fill(self, definition: Definition, made: draft.Declaration) -> None:
        match made:
            case draft.Struct():
                made.members = self._all_members(definition, definition.scope)
                if definition.operations:
                    self._left_out(made.span, f"the operations of class `{made.name}`")
                if definition.kind == "class" and made.key in self._run.derived:
                    self._changed(
                        made.span,
                        f"class `{made.name}`, which others extend,",
                        "a struct that is never one of those",
                        "a value has the type that is declared",
                    )
            case draft.Service():
                first = next(iter(self._bases(definition)), None)
                made.base = None if first is None or first is definition else _key(first)
                made.methods = self._own_operations(definition, first)
            case draft.Alias() if definition.kind == "sequence":
                element = definition.types[0]
                if element.name == "byte" and not element.proxy:
                    made.type = Builtin("bytes")
                else:
                    made.type = draft.ListOf(self._type(element, definition.scope))
            case draft.Alias():
                key, value = (self._type(each, definition.scope) for each in definition.types)
                made.type = draft.MapOf(draft.present(key), value)
            case draft.Const():
                assert definition.value is not None
                made.type = draft.present(self._type(definition.types[0], definition.scope))
                made.value = self._value(made.type, definition.value, definition.scope)
            case _:
                pass

    # Members -----------------------------------------------------------------------------------------------

    def _bases(self, definition: Definition) -> list[Definition]:
        found: list[Definition] = []
        for base in definition.bases:
            key = self._run.find(_plain(base.text), definition.scope)
            if key is None or key not in self._run.definitions:
                if base.text in _ANY_CLASS:
                    continue
                raise Refused(base.span, f"`{base.text}` is not known here")
            found.append(self._run.definitions[key])
        return found

    def _all_members(self, definition: Definition, scope: str) -> list[draft.Member]:
        """Those of the bases first."""
        made: list[draft.Member] = []
        for base in self._bases(definition):
            if base is definition or base.kind == "interface":
                continue
            made += self._all_members(base, base.scope)
        return [*made, *(self._member(each, scope) for each in definition.members)]

    def _member(self, member: Member, scope: str) -> draft.Member:
        type_ = self._type(member.type, scope)
        made = draft.Member(_plain(member.name.text), type_, member.name.span, doc=member.name.doc)
        if member.default is not None:
            made.type = draft.present(type_)
            made.default = self._value(made.type, member.default, scope)
        return made

    def _type(self, type_: Type, scope: str) -> draft.Type:
        if type_.proxy or type_.name == "Object":
            if not type_.proxy:
                self._changed(type_.span, "a value of any class", "bytes", "each value has a declared type")
                return Builtin("bytes")
            self._changed(
                type_.span,
                f"a proxy of `{type_.name}`",
                "a string",
                "an object is not passed along with a value; `ice_toString` gives what stands for it",
            )
            return Builtin("string")
        if type_.name in _SCALARS:
            made: draft.Type = Builtin(_SCALARS[type_.name])
            return draft.optional(made) if type_.optional else made
        if type_.name in _ANY_CLASS:
            self._changed(type_.span, "a value of any class", "bytes", "each value has a declared type")
            return Builtin("bytes")
        key = self._run.find(type_.name, scope)
        if key is None:
            raise Refused(type_.span, f"`{type_.name}` is no type that is known here")
        if not self._project.knows(key) or isinstance(self._project.of(key), draft.Service):
            self._changed(
                type_.span, f"`{type_.name}` as a value", "bytes", "its definition is not in what was read"
            )
            return Builtin("bytes")
        by_reference = self._run.definitions[key].kind == "class"
        return draft.optional(Ref(key)) if type_.optional or by_reference else Ref(key)

    # Operations --------------------------------------------------------------------------------------------

    def _own_operations(self, definition: Definition, first: Definition | None) -> list[draft.Method]:
        """All but those of the first base, which the service extends, and of the bases of that one."""
        seen: set[str] = set()
        if first is not None:
            self._collect(first, seen)
        made: list[draft.Method] = []
        for base in self._bases(definition)[1:]:
            if base is not definition:
                self._changed(
                    definition.name.span,
                    f"that `{definition.name.text}` extends `{base.name.text}`, too,",
                    "a copy of the other's methods",
                    "a service extends one other",
                )
                made += self._operations_besides(base, seen)
        return [*made, *(self._operation(each, definition.scope) for each in definition.operations)]

    def _collect(self, definition: Definition, seen: set[str]) -> None:
        """The definition and all of its bases."""
        if _key(definition) not in seen:
            seen.add(_key(definition))
            for base in self._bases(definition):
                self._collect(base, seen)

    def _operations_besides(self, definition: Definition, seen: set[str]) -> list[draft.Method]:
        """Those of its bases first, each once, without those of what was seen."""
        if _key(definition) in seen:
            return []
        seen.add(_key(definition))
        made = [each for base in self._bases(definition) for each in self._operations_besides(base, seen)]
        return [*made, *(self._operation(each, definition.scope) for each in definition.operations)]

    def _operation(self, operation: Operation, scope: str) -> draft.Method:
        made = draft.Method(_plain(operation.name.text), operation.name.span, doc=operation.doc)
        if operation.idempotent:
            made.annotations.append("@idempotent")
        if any(each.startswith("deprecate") for each in operation.metadata):
            made.annotations.append("@deprecated")
        made.parameters = [self._member(each, scope) for each in operation.parameters if not each.out]
        results = [self._member(each, scope) for each in operation.parameters if each.out]
        if operation.result is not None:
            type_ = self._type(operation.result, scope)
            names = {each.name for each in results}
            name = next(each for each in ("result", "returned", "result_") if each not in names)
            results.insert(0, draft.Member(name if results else "", type_, operation.result.span))
        made.results = results
        for thrown in operation.throws:
            made.throws += [each for each in self._errors(thrown, scope) if each not in made.throws]
        return made

    def _errors(self, thrown: Token, scope: str) -> list[str]:
        """The exception that is named, and those that extend it: a servant may throw them too."""
        key = self._run.find(_plain(thrown.text), scope)
        if key is None or not self._project.knows(key):
            raise Refused(thrown.span, f"`{thrown.text}` is no exception that is known here")
        found = [key]
        for each in found:
            found += [
                one
                for one in self._run.derived.get(each, ())
                if one not in found and self._project.knows(one)
            ]
        return found

    # Values ------------------------------------------------------------------------------------------------

    def _value(self, type_: draft.Type, token: Token, scope: str) -> draft.Value:
        bare = self._project.bare(type_)
        if token.kind == "name" and token.text not in ("true", "false"):
            return self._named(bare, token, scope)
        match bare:
            case Builtin("bool") if token.text in ("true", "false"):
                return draft.Literal(token.text)
            case Builtin("f32" | "f64") if token.kind in ("int", "float"):
                return draft.Literal(
                    repr(float(token.text.rstrip("fF"))) if token.kind == "float" else token.text
                )
            case Builtin("string") if token.kind == "text":
                return draft.string_literal(_unescaped(token.text[1:-1]))
            case Builtin() if token.kind == "int":
                return draft.Literal(token.text.lstrip("+"))
            case Builtin() if token.kind == "text":
                return draft.Literal(token.text[1:-1])  # a number in quotes
        raise Refused(token.span, "this value does not fit its type")

    def _named(self, bare: draft.Type, token: Token, scope: str) -> draft.Value:
        """An enumerator, alone or behind its enum or module, or a constant."""
        text = _plain(token.text)
        if isinstance(bare, Ref):
            enum = self._project.of(bare.key)
            name = text.rpartition("::")[2]
            if isinstance(enum, draft.Enum) and any(each.name == name for each in enum.members):
                return draft.Named(bare.key, name)
        key = self._run.find(text, scope)
        if key is None or not isinstance(self._project.of(key), draft.Const):
            raise Refused(token.span, f"`{text}` is no constant that is known here")
        return draft.Named(key)

    def _changed(self, span: Span | None, what: str, becomes: str, reason: str) -> None:
        self._diagnostics.warning("W1002", span, what=what, becomes=becomes, reason=reason)

    def _left_out(self, span: Span | None, what: str) -> None:
        self._diagnostics.warning("W1001", span, what=what)


def _plain(name: str) -> str:
    return name.replace("\\", "")


def _common(scopes: list[list[str]]) -> list[str]:
    """The modules that all definitions are in."""
    if not scopes:
        return []
    first, *others = scopes
    made: list[str] = []
    for depth, part in enumerate(first):
        if any(len(each) <= depth or each[depth] != part for each in others):
            break
        made.append(part)
    return made


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return codecs.decode(text.encode("latin-1", "backslashreplace"), "unicode_escape")
