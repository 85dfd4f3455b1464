"""F6. Files of Thrift as drafts (docs/import.md). A module is called like its file, because that is how other
files name what it declares.
"""

from pathlib import PurePosixPath

from mfidl.diagnostics import Diagnostics
from mfidl.foreign import draft
from mfidl.foreign.draft import Builtin, Project, Ref
from mfidl.foreign.numbers import whole
from mfidl.foreign.scan import Refused, Unwritable, check_unique
from mfidl.foreign.thrift_syntax import Constant, Definition, Document, Field, Function, Type
from mfidl.foreign.thrift_values import Later, Names, Values, as_signed, key_of
from mfidl.source import Span

_SCALARS = {
    "bool": "bool",
    "byte": "i8",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "double": "f64",
    "string": "string",
    "slist": "string",
    "binary": "bytes",
    "uuid": "uuid",
}
_LAST_NUMBER = 536_870_911


def read_thrift(
    document: Document,
    name: str,
    included: dict[str, list[str]],
    project: Project,
    diagnostics: Diagnostics,
) -> None:
    """Add the draft of one file. Its name is that below the folders of the run; `included` has those of the
    files that it includes, which were read before, by their stems.
    """
    _File(document, name, included, project, diagnostics).read()


class _File:
    def __init__(
        self,
        document: Document,
        name: str,
        included: dict[str, list[str]],
        project: Project,
        diagnostics: Diagnostics,
    ) -> None:
        self._document = document
        self._project = project
        self._diagnostics = diagnostics
        self._own = name
        self._file = draft.File(document.source, name, (), document.doc)
        files = {PurePosixPath(name).stem: [name], **included}
        self._names = Names(project, files, name)
        self._later = Later()  # values need all types of the file
        self._values = Values(project, self._names, self._later, diagnostics)

    def read(self) -> None:
        made = [self._declaration(each) for each in self._document.definitions]
        for each in made:
            self._project.place(self._file, each)
        for definition, each in zip(self._document.definitions, made, strict=True):
            self._fill(definition, each)
        self._later.do_all()
        for definition, each in zip(self._document.definitions, made, strict=True):
            if isinstance(each, draft.Service):
                self._service(definition, each)
        self._later.do_all()
        self._file.declarations = [each for each in made if each.key not in self._project.left_out]
        self._project.add(self._file)

    def _declaration(self, definition: Definition) -> draft.Declaration:
        """The declaration without what needs others."""
        name = definition.name.text
        key, span, doc = key_of(self._own, name), definition.name.span, definition.doc
        match definition.kind:
            case "const":
                return draft.Const(key, name, span, doc=doc)
            case "typedef":
                return draft.Alias(key, name, span, doc=doc)
            case "senum":
                reason = "a senum is a string"
                self._changed(span, f"senum `{name}`", "an alias of string", reason)
                return draft.Alias(key, name, span, doc=doc, type=Builtin("string"))
            case "enum":
                return self._enum(definition)
            case "service":
                return draft.Service(key, name, span, doc=doc)
        kind = {"exception": "error"}.get(definition.kind, definition.kind)
        if kind == "union" and not definition.fields:
            self._changed(span, f"union `{name}`", "a struct", "a union without alternatives has no value")
            kind = "struct"
        return draft.Struct(key, name, span, doc=doc, kind=kind)

    def _enum(self, definition: Definition) -> draft.Enum:
        check_unique(f"enum `{definition.name.text}`", (each.name for each in definition.members))
        enum = definition.name
        made = draft.Enum(key_of(self._own, enum.text), enum.text, enum.span, doc=definition.doc)
        number = -1
        for each in definition.members:
            name, written = each.name, each.number
            number = number + 1 if written is None else whole(written.text, written.span)
            place = name if written is None else written
            try:
                text = str(number) if written is None else written.text
                own = as_signed("i32", number, text, place.span, self._diagnostics)
            except Unwritable as unwritable:
                made.left_out.add(name.text)
                self._left_out(name.span, f"`{name.text}`: {unwritable.reason}")
                continue
            known = made.member_of(own)
            if known is not None:
                made.second_names[name.text] = known
                self._left_out(name.span, f"`{name.text}`, which is another name of `{known}`")
                continue
            made.members.append(draft.EnumMember(name.text, own, doc=each.doc))
        return made

    def _fill(self, definition: Definition, made: draft.Declaration) -> None:
        match made:
            case draft.Const():
                assert definition.type is not None
                value = definition.value
                assert value is not None
                made.type = self._type(definition.type)
                self._later.add(made.key, lambda: self._constant(made, value))
            case draft.Alias() if definition.type is not None:
                made.type = self._type(definition.type)
            case draft.Struct():
                what = f"{definition.kind} `{made.name}`"
                is_union = made.kind == "union"
                made.members = self._members(what, definition.fields, is_union)
                self._check_numbers(f"fields of `{made.name}`", made.members, made.span)
                if is_union:
                    for each in made.members:
                        each.type = draft.present(each.type)
            case _:
                pass

    # Members -----------------------------------------------------------------------------------------------

    def _members(self, what: str, fields: list[Field], is_union: bool = False) -> list[draft.Member]:
        check_unique(what, (each.name for each in fields))
        numbers = [(each.number, each.name) for each in fields if each.number is not None]
        for index, (number, name) in enumerate(numbers):
            if any(number == other for other, _ in numbers[:index]):
                raise Refused(name.span, f"{what} has two fields of number {number}")
        return [self._member(each, is_union) for each in fields]

    def _member(self, field: Field, is_union: bool) -> draft.Member:
        """With the default that is written, or the zero that Thrift takes for a field that was not sent."""
        type_ = self._type(field.type)
        if field.need == "optional":
            type_ = draft.optional(type_)  # with a default, until that is known
        member = draft.Member(field.name.text, type_, field.name.span, field.number, doc=field.doc)
        default = field.default
        if is_union and default is not None:
            what = f"the default of `{member.name}`, an alternative of a union"
            self._left_out(default.span, what)
        elif default is not None:
            self._later.add(id(member), lambda: self._default(member, field, default))
        elif not is_union and field.need == "":
            self._later.add(id(member), lambda: self._zero(member, field))
        return member

    def _default(self, member: draft.Member, field: Field, default: Constant) -> None:
        """The default that is written. A field whose default is left out is as if none were written."""
        try:
            member.default = self._values.of(member.type, default)
            member.type = draft.present(member.type)
        except Unwritable as unwritable:
            self._left_out(unwritable.span, f"the default of `{member.name}`: {unwritable.reason}")
            if field.need == "":
                self._zero(member, field)

    def _zero(self, member: draft.Member, field: Field) -> None:
        try:
            member.default = self._values.zero(member.type, field.name.span)
        except Unwritable:
            member.default = None  # an enum or union without a zero

    def _constant(self, const: draft.Const, value: Constant) -> None:
        try:
            const.value = self._values.of(const.type, value)
        except Unwritable as unwritable:
            self._project.leave_out(const)
            self._left_out(unwritable.span, f"constant `{const.name}`: {unwritable.reason}")

    def _check_numbers(self, what: str, members: list[draft.Member], span: Span | None) -> None:
        """Either all have numbers that a field can have here, or none has."""
        numbers = [each.number for each in members]
        if all(number is not None and _is_number(number) for number in numbers):
            return
        if any(number is not None for number in numbers):
            self._left_out(span, f"the numbers of the {what}")
        for each in members:
            each.number = None

    def _type(self, type_: Type) -> draft.Type:
        if type_.arguments:
            inner = [draft.present(self._type(each)) for each in type_.arguments]
            match type_.name:
                case "list":
                    return draft.ListOf(inner[0])
                case "set":
                    return draft.SetOf(inner[0])
                case _:
                    return draft.MapOf(*inner)
        if type_.name in _SCALARS:
            return Builtin(_SCALARS[type_.name])
        key = self._names.find(type_.name, type_.span)
        declared = self._project.of(key) if key is not None and self._project.knows(key) else None
        if key is None or declared is None or isinstance(declared, draft.Service | draft.Const):
            raise Refused(type_.span, f"`{type_.name}` is no type that is known here")
        return Ref(key)

    # Services ----------------------------------------------------------------------------------------------

    def _service(self, definition: Definition, made: draft.Service) -> None:
        if definition.extends is not None:
            key = self._names.find(definition.extends.text, definition.extends.span)
            declared = self._project.of(key) if key is not None and self._project.knows(key) else None
            if not isinstance(declared, draft.Service):
                raise Refused(
                    definition.extends.span, f"`{definition.extends.text}` is no service that is known here"
                )
            made.base = declared.key
        check_unique(f"service `{made.name}`", (each.name for each in definition.functions))
        taken = self._inherited(made)
        for each in definition.functions:
            if each.name.text in taken:
                self._left_out(each.name.span, f"function `{each.name.text}`, which the service has already")
            else:
                made.methods.append(self._function(each))

    def _inherited(self, service: draft.Service) -> set[str]:
        """The names of the methods of what a service extends."""
        found: set[str] = set()
        seen: set[str] = set()
        key = service.base
        while key is not None and key not in seen:
            seen.add(key)
            base = self._project.of(key)
            assert isinstance(base, draft.Service)
            found.update(each.name for each in base.methods)
            key = base.base
        return found

    def _function(self, function: Function) -> draft.Method:
        made = draft.Method(function.name.text, function.name.span, doc=function.doc)
        if function.oneway:
            made.annotations.append("@oneway")
        made.parameters = self._members(f"function `{made.name}`", function.parameters)
        self._check_numbers(f"parameters of `{made.name}`", made.parameters, made.span)
        if function.result is not None:
            made.results = [draft.Member("", self._type(function.result), function.result.span)]
        for each in function.throws:
            made.throws += [key for key in [self._error(each.type)] if key not in made.throws]
        return made

    def _error(self, type_: Type) -> str:
        bare = self._project.bare(self._type(type_))
        declared = self._project.of(bare.key) if isinstance(bare, Ref) else None
        if not isinstance(declared, draft.Struct) or declared.kind != "error":
            raise Refused(type_.span, f"`{type_.name}` is no exception")
        return declared.key

    def _left_out(self, span: Span | None, what: str) -> None:
        self._diagnostics.warning("W1001", span, what=what)

    def _changed(self, span: Span | None, what: str, becomes: str, reason: str) -> None:
        self._diagnostics.warning("W1002", span, what=what, becomes=becomes, reason=reason)


def _is_number(number: int) -> bool:
    return 0 < number <= _LAST_NUMBER and not 19_000 <= number <= 19_999
