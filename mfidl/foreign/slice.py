"""F6. Slice files as drafts (docs/import.md)."""

from collections.abc import Iterator

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import Builtin, Project, Ref
from mfidl.foreign.numbers import fits
from mfidl.foreign.scan import Name, Refused, Unwritable, check_unique
from mfidl.foreign.slice_syntax import Definition, Document, Enumerator, Member, Operation, Type
from mfidl.foreign.slice_values import Values
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
_BASES_LIMIT = 256
_MAY_EXTEND = {
    "class": ("class", "interface"),
    "exception": ("exception",),
    "interface": ("interface",),
    "struct": (),
}
_ANY_CLASS = frozenset(
    f"{scope}{name}"
    for scope in ("", "Ice::", "::Ice::")
    for name in ("Object", "Value", "LocalObject", "AnyClass", "AnyException")
)


class Slice:
    """Reads the files of one run, each behind those that it includes."""

    def __init__(self, project: Project, diagnostics: Diagnostics) -> None:
        self._project = project
        self._diagnostics = diagnostics
        self.definitions: dict[str, Definition] = {}
        self.known: set[str] = set()  # declared without a definition, or left out
        self.derived: dict[str, list[str]] = {}
        self.values = Values(project, self.find)

    def read(self, document: Document, name: str) -> None:
        self.known.update(document.known)
        for each in document.definitions:
            key = _key(each)
            if key in self.definitions:
                first = self.definitions[key].name.span
                place = f"{first.file.path}:{first.line()}"
                raise Refused(each.name.span, f"`{key.removeprefix('::')}` is defined already, at {place}")
            self.definitions[key] = each
        for each in document.definitions:
            for base in each.bases:
                found = self.find(base.text, each.scope)
                if found is not None:
                    self.derived.setdefault(found, []).append(_key(each))
        for each in document.definitions:
            above = self._above(each)
            if _key(each) in above:
                raise Refused(each.name.span, f"`{each.name.text}` extends itself")
            if len(above) > _BASES_LIMIT:
                raise Refused(each.name.span, f"`{each.name.text}` extends more than {_BASES_LIMIT} others")
        _File(self, document, name, self._project, self._diagnostics).read()

    def find(self, name: str, scope: str) -> str | None:
        """The key of a definition that a name means in a module."""
        if name.startswith("::"):
            return name if name in self.definitions or name in self.known else None
        while True:
            key = f"{scope}::{name}"
            if key in self.definitions or key in self.known:
                return key
            if not scope:
                return None
            scope = scope.rpartition("::")[0]

    def _above(self, definition: Definition) -> set[str]:
        """The keys of all that a definition extends."""
        found: set[str] = set()
        waiting = [definition]
        for each in waiting:
            for base in each.bases:
                key = self.find(base.text, each.scope)
                if key is not None and key not in found:
                    found.add(key)
                    waiting += [self.definitions[key]] if key in self.definitions else []
        return found


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
        span = document.module if common else None
        self._file = draft.File(document.source, name, tuple(common), document.doc, span=span)
        self._outer = "".join(f"::{each}" for each in common)

    def read(self) -> None:
        for what, span in self._document.left_out:
            self._left_out(span, what)
        made = [(each, self._declaration(each)) for each in self._document.definitions]
        for _, each in made:
            if not isinstance(each, draft.Const):
                self._project.place(self._file, each)
        for definition, each in made:  # each may name those before it
            if isinstance(each, draft.Enum):
                self._enumerate(definition, each)
            elif isinstance(each, draft.Const):
                self._constant(definition, each)
        for definition, each in made:
            self._fill(definition, each)
        self._file.declarations = [each for _, each in made if each.key not in self._project.left_out]
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
                made = draft.Enum(key, name, span, doc=doc, open=False)
            case "const":
                made = draft.Const(key, name, span, doc=doc)
            case _:
                made = draft.Alias(key, name, span, doc=doc)
        if any(each.startswith("deprecate") for each in definition.metadata):
            made.annotations.append("@deprecated")
        return made

    def _enumerate(self, definition: Definition, made: draft.Enum) -> None:
        if not definition.enumerators:
            raise Refused(definition.name.span, f"enum `{definition.name.text}` has no enumerators")
        check_unique(f"enum `{definition.name.text}`", (each.name for each in definition.enumerators))
        number: int | None = -1
        for each in definition.enumerators:
            name = each.name
            try:
                number = self._number(each, number, definition.scope)
            except Unwritable as unwritable:
                made.left_out.add(name.text)
                self._left_out(name.span, f"`{name.text}`: {unwritable.reason}")
                number = None
                continue
            known = made.member_of(number)
            if known is not None:
                made.second_names[name.text] = known
                self._left_out(name.span, f"`{name.text}`, which is another name of `{known}`")
            else:
                made.members.append(draft.EnumMember(name.text, number, doc=each.doc))

    def _number(self, enumerator: Enumerator, before: int | None, scope: str) -> int:
        """What is written, or one more than the enumerator before, which has none if it is left out."""
        span = enumerator.name.span
        if enumerator.number is not None:
            number = self._run.values.number(enumerator.number, scope)
        elif before is not None:
            number = before + 1
        else:
            raise Unwritable(span, "it follows one that is left out")
        if not fits("i32", number):
            raise Unwritable(span, f"{number} does not fit i32")
        return number

    def _constant(self, definition: Definition, made: draft.Const) -> None:
        assert definition.value is not None
        made.type = draft.present(self._type(definition.types[0], definition.scope))
        try:
            made.value = self._run.values.of(made.type, definition.value, definition.scope)
        except Unwritable as unwritable:
            self._project.left_out.add(made.key)
            self._left_out(unwritable.span, f"constant `{made.name}`: {unwritable.reason}")
        else:
            self._project.place(self._file, made)

    def _fill(self, definition: Definition, made: draft.Declaration) -> None:
        for base in definition.bases:
            found = self._run.find(base.text, definition.scope)
            if found is not None and found not in self._run.definitions:
                self._left_out(base.span, f"that `{definition.name.text}` extends `{base.text}`")
        match made:
            case draft.Struct():
                fields = list(self._all_fields(definition))
                check_unique(f"{definition.kind} `{made.name}`", (each.name for each, _ in fields))
                made.members = [self._member(each, scope) for each, scope in fields]
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
                made.base = None if first is None else _key(first)
                made.methods = self._own_operations(definition, first)
            case draft.Alias() if definition.kind == "sequence":
                element = definition.types[0]
                if element.name == "byte" and not element.proxy and not element.is_escaped:
                    made.type = Builtin("bytes")
                else:
                    made.type = draft.ListOf(self._type(element, definition.scope))
            case draft.Alias():
                key, value = (self._type(each, definition.scope) for each in definition.types)
                made.type = draft.MapOf(draft.present(key), value)
            case _:
                pass

    # Members -----------------------------------------------------------------------------------------------

    def _bases(self, definition: Definition) -> list[Definition]:
        found: list[Definition] = []
        for base in definition.bases:
            key = self._run.find(base.text, definition.scope)
            if key in self._run.definitions:
                found.append(self._run.definitions[key])
                if found[-1].kind not in _MAY_EXTEND[definition.kind]:
                    raise Refused(base.span, f"`{base.text}` cannot be extended by this {definition.kind}")
            elif key is None and base.text not in _ANY_CLASS:
                raise Refused(base.span, f"`{base.text}` is not known here")
        return found

    def _all_fields(self, definition: Definition) -> Iterator[tuple[Member, str]]:
        """With the module that each is declared in; those of the bases first."""
        for base in self._bases(definition):
            if base.kind != "interface":
                yield from self._all_fields(base)
        for each in definition.members:
            yield each, definition.scope

    def _member(self, member: Member, scope: str) -> draft.Member:
        type_ = self._type(member.type, scope)
        made = draft.Member(member.name.text, type_, member.name.span, doc=member.doc)
        if member.default is not None:
            try:
                made.default = self._run.values.of(draft.present(type_), member.default, scope)
                made.type = draft.present(type_)
            except Unwritable as unwritable:
                self._left_out(unwritable.span, f"the default of `{made.name}`: {unwritable.reason}")
        return made

    def _type(self, type_: Type, scope: str) -> draft.Type:
        if type_.proxy:
            self._changed(
                type_.span,
                f"a proxy of `{type_.name}`",
                "a string",
                "an object is not passed along with a value; `ice_toString` gives a string that refers to it",
            )
            return Builtin("string")
        if type_.name in _SCALARS and not type_.is_escaped:
            made: draft.Type = Builtin(_SCALARS[type_.name])
            return draft.optional(made) if type_.optional else made
        if type_.name in _ANY_CLASS and not type_.is_escaped:
            self._changed(type_.span, "a value of any class", "bytes", "each value has a declared type")
            return Builtin("bytes")
        key = self._run.find(type_.name, scope)
        declared = self._run.definitions.get(key or "")
        if key is None or (declared is not None and declared.kind == "const"):
            raise Refused(type_.span, f"`{type_.name}` is no type that is known here")
        if not self._project.knows(key) or isinstance(self._project.of(key), draft.Service):
            reason = "its definition is not in what was read"
            if key in self._run.definitions:
                reason = "an interface has no value"
            self._changed(type_.span, f"`{type_.name}` as a value", "bytes", reason)
            return Builtin("bytes")
        by_reference = declared is not None and declared.kind == "class"
        return draft.optional(Ref(key)) if type_.optional or by_reference else Ref(key)

    # Operations --------------------------------------------------------------------------------------------

    def _own_operations(self, definition: Definition, first: Definition | None) -> list[draft.Method]:
        """All but those of the first base, which the service extends, and of the bases of that one."""
        seen: set[str] = set()
        if first is not None:
            self._collect(first, seen)
        taken = {each.name.text for key in seen for each in self._run.definitions[key].operations}
        made: list[draft.Method] = []
        for base in self._bases(definition)[1:]:
            self._changed(
                definition.name.span,
                f"that `{definition.name.text}` extends `{base.name.text}`, too,",
                "a copy of the other's methods",
                "a service extends one other",
            )
            made += self._operations_besides(base, seen)
        made += [self._operation(each, definition.scope) for each in definition.operations]
        return [each for each in made if self._is_new(each, taken)]

    def _is_new(self, method: draft.Method, taken: set[str]) -> bool:
        """Whether a method has a name of its own, also among those of what its service extends."""
        if method.name in taken:
            self._left_out(method.span, f"operation `{method.name}`, since another one has that name")
            return False
        taken.add(method.name)
        return True

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
        made = draft.Method(operation.name.text, operation.name.span, doc=operation.doc)
        if operation.idempotent:
            made.annotations.append("@idempotent")
        if any(each.startswith("deprecate") for each in operation.metadata):
            made.annotations.append("@deprecated")
        check_unique(f"operation `{made.name}`", (each.name for each in operation.parameters))
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

    def _errors(self, thrown: Name, scope: str) -> list[str]:
        """The exception that is named, and those that extend it: a servant may throw them too."""
        key = self._run.find(thrown.text, scope)
        declared = self._project.of(key) if key is not None and self._project.knows(key) else None
        if key is not None and declared is None:
            self._left_out(thrown.span, f"that this throws `{thrown.text}`")
            return []
        if key is None or not isinstance(declared, draft.Struct) or declared.kind != "error":
            raise Refused(thrown.span, f"`{thrown.text}` is no exception that is known here")
        found = [key]
        for each in found:
            found += [
                one
                for one in self._run.derived.get(each, ())
                if one not in found and self._project.knows(one)
            ]
        return found

    def _changed(self, span: Span | None, what: str, becomes: str, reason: str) -> None:
        self._diagnostics.warning("W1002", span, what=what, becomes=becomes, reason=reason)

    def _left_out(self, span: Span | None, what: str) -> None:
        self._diagnostics.warning("W1001", span, what=what)


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
