"""F6. Drafts as the text of schemas, in the one canonical style."""

from collections.abc import Iterable

from mfidl.diagnostics import Diagnostics
from mfidl.fmt import format_source
from mfidl.foreign import draft
from mfidl.foreign.draft import File, Project
from mfidl.source import SourceFile


def schema_text(project: Project, file: File) -> str:
    """The schema of one file, formatted."""
    writer = _Writer(project, file)
    source = SourceFile(file.path, file.path, writer.text())
    mistakes = Diagnostics()
    formatted = format_source(source, mistakes)
    if formatted is None:
        raise AssertionError(f"{file.path} does not parse: {mistakes.sorted()[0].message}")
    return formatted


class _Writer:
    def __init__(self, project: Project, file: File) -> None:
        self._project = project
        self._file = file
        self._local: dict[str, str] = {}  # path of an imported file: its name here
        self._imported: list[str] = []
        self._around = ""  # the key of the declaration that is being written
        self._within: dict[str, list[draft.Declaration]] = {}
        for each in file.declarations:
            self._within.setdefault(each.holder, []).append(each)
        self._own_names = {each.name for each in file.declarations}
        self._paths = {project.path(each.key) for each in file.declarations}

    def text(self) -> str:
        body = [self._declaration(each) for each in self._within.get("", ())]
        head = [*_doc(self._file.doc), f"module {self._file.module};\n"]
        parts = ["\n".join(head)]
        if self._imported:
            parts.append("\n".join(sorted(self._imported)) + "\n")
        return "\n".join([*parts, *body])

    # Names -------------------------------------------------------------------------------------------------

    def _name(self, key: str) -> str:
        path, holder = self._project.path(key), self._project.file_of(key)
        if holder is not self._file:
            return f"{self._module(holder)}.{'.'.join(path)}"
        if len(path) == 1 and not self._around:
            return path[0]
        return self._seen(path)

    def _seen(self, path: tuple[str, ...]) -> str:
        """The shortest name for a declaration of this file from within the one that is being written: the
        first word is searched from the inside outwards.
        """
        here = self._project.path(self._around) if self._around else ()
        for length in range(len(here), -1, -1):
            if here[:length] != path[:length] or length == len(path):
                continue
            first = path[length]
            found = next(each for each in range(len(here), -1, -1) if (*here[:each], first) in self._paths)
            if found == length:
                return ".".join(path[length:])
        return ".".join((self._file.module, *path))

    def _module(self, holder: File) -> str:
        known = self._local.get(holder.path)
        if known is not None:
            return known
        last = holder.module.rpartition(".")[2]
        name = last
        while name in self._local.values() or name in self._own_names:
            name = f"other_{name}"
        self._local[holder.path] = name
        self._imported.append(f'import "{holder.path}"{"" if name == last else f" as {name}"};')
        return name

    # Declarations ------------------------------------------------------------------------------------------

    def _declaration(self, declaration: draft.Declaration) -> str:
        lines = _doc(declaration.doc) + list(declaration.annotations)
        match declaration:
            case draft.Struct():
                around, self._around = self._around, declaration.key
                lines += self._struct(declaration)
                self._around = around
            case draft.Enum():
                lines += _enum(declaration)
            case draft.Alias():
                lines.append(f"type {declaration.name} = {self._type(declaration.type)};")
            case draft.Const():
                typed = f"{declaration.name}: {self._type(declaration.type)}"
                lines.append(f"const {typed} = {self._value(declaration.value)};")
            case draft.Service():
                extends = f" extends {self._name(declaration.base)}" if declaration.base else ""
                lines.append(f"service {declaration.name}{extends} {{")
                for method in declaration.methods:
                    lines += self._method(method)
                lines.append("}")
        return "\n".join(lines) + "\n"

    def _struct(self, struct: draft.Struct) -> Iterable[str]:
        yield f"{struct.kind} {struct.name} {{"
        for inner in self._within.get(struct.key, ()):
            yield self._declaration(inner)
        for each in struct.members:
            yield from _doc(each.doc)
            yield self._member(each) + ";"
        if struct.reserved:
            yield f"reserved {', '.join(struct.reserved)};"
        yield "}"

    def _member(self, member: draft.Member) -> str:
        before = "".join(f"{each} " for each in member.annotations)
        number = "" if member.number is None else f"{member.number}: "
        default = "" if member.default is None else f" = {self._value(member.default)}"
        return f"{before}{number}{member.name}: {self._type(member.type)}{default}"

    def _method(self, method: draft.Method) -> list[str]:
        lines = _doc(method.doc) + list(method.annotations)
        text = f"{method.name}({self._list(method.parameters)})"
        if len(method.results) == 1 and not method.results[0].name:
            text += f" -> {self._type(method.results[0].type)}"
        elif method.results:
            text += f" -> ({self._list(method.results)})"
        if method.throws:
            text += " throws " + ", ".join(self._name(each) for each in method.throws)
        return [*lines, text + ";"]

    def _list(self, members: Iterable[draft.Member]) -> str:
        written = []
        for each in members:
            doc = "".join(f"\n{line}" for line in _doc(each.doc))
            written.append(doc + ("\n" if doc else "") + self._member(each))
        return ", ".join(written)

    def _type(self, type_: draft.Type) -> str:
        match type_:
            case draft.Builtin(word):
                return word
            case draft.Ref(key):
                return self._name(key)
            case draft.ListOf(element):
                return f"list<{self._type(element)}>"
            case draft.SetOf(element):
                return f"set<{self._type(element)}>"
            case draft.MapOf(key, value):
                return f"map<{self._type(key)}, {self._type(value)}>"
            case draft.OptionalOf(inner):
                return f"{self._type(inner)}?"
            case draft.StreamOf(element):
                return f"stream<{self._type(element)}>"

    def _value(self, value: draft.Value) -> str:
        match value:
            case draft.Literal(text):
                return text
            case draft.Named(key, member):
                return self._name(key) + (f".{member}" if member else "")
            case draft.ListValue(elements):
                return f"[{', '.join(map(self._value, elements))}]"
            case draft.MapValue(entries):
                pairs = (f"{self._value(key)}: {self._value(held)}" for key, held in entries)
                return f"{{ {', '.join(pairs)} }}"
            case draft.StructValue(fields):
                pairs = (f"{name}: {self._value(held)}" for name, held in fields)
                return f"{{ {', '.join(pairs)} }}"


def _enum(enum: draft.Enum) -> Iterable[str]:
    yield f"{'open ' if enum.open else ''}enum {enum.name}: i32 {{"
    for each in enum.members:
        yield from _doc(each.doc)
        before = "".join(f"{annotation} " for annotation in each.annotations)
        yield f"{before}{each.name} = {each.number},"
    yield "}"


def _doc(text: str) -> list[str]:
    """A comment of the foreign file as lines of a doc comment."""
    lines = [_printable(line).rstrip() for line in text.expandtabs(4).splitlines()]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    indent = min((len(each) - len(each.lstrip()) for each in lines if each), default=0)
    return [f"/// {each[indent:]}".rstrip() for each in lines]


def _printable(line: str) -> str:
    return "".join(c if c.isprintable() else " " for c in line)
