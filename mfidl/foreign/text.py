"""F6. Drafts as the text of schemas. It remembers of each line what of the draft it says."""

from dataclasses import dataclass

from mfidl.foreign import draft
from mfidl.foreign.draft import File, Project


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What can be left out of a draft alone: a declaration, or a part of one."""

    declaration: draft.Declaration
    item: draft.Member | draft.EnumMember | draft.Method | None = None


@dataclass(frozen=True, slots=True)
class Lines:
    """A schema that is not formatted yet. `parts` has one for each line; None: it is about the whole file."""

    text: str
    parts: list[Part | None]


def schema_lines(project: Project, file: File) -> Lines:
    """The schema of one file."""
    return _Writer(project, file).lines()


class _Writer:
    def __init__(self, project: Project, file: File) -> None:
        self._project = project
        self._file = file
        self._local: dict[str, str] = {}  # path of an imported file: its name here
        self._imported: list[str] = []
        self._body: list[tuple[str, Part]] = []
        self._around = ""  # the key of the declaration that is being written
        self._within: dict[str, list[draft.Declaration]] = {}
        for each in file.declarations:
            self._within.setdefault(each.holder, []).append(each)
        self._own_names = {each.name for each in file.declarations}
        self._paths = {project.path(each.key) for each in file.declarations}

    def lines(self) -> Lines:
        for each in self._within.get("", ()):
            self._declaration(each)
        head = [*_doc(self._file.doc), f"module {self._file.module};", "", *sorted(self._imported), ""]
        text = "\n".join([*head, *(text for text, _ in self._body)])
        return Lines(text + "\n", [*(None for _ in head), *(part for _, part in self._body)])

    def _put(self, part: Part, *texts: str) -> None:
        """Lines; none of them holds a line break, in strings least of all, since these are escaped."""
        self._body += [(text, part) for text in texts]

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
        first word is searched from the inside outwards. One that was left out is named in full, which the
        front end refuses.
        """
        here = self._project.path(self._around) if self._around else ()
        for length in range(len(here), -1, -1):
            if here[:length] != path[:length] or length == len(path):
                continue
            first = path[length]
            inwards = range(len(here), -1, -1)
            if length == next((each for each in inwards if (*here[:each], first) in self._paths), None):
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

    def _declaration(self, declaration: draft.Declaration) -> None:
        part = Part(declaration)
        self._put(part, "", *_doc(declaration.doc), *declaration.annotations)
        match declaration:
            case draft.Struct():
                around, self._around = self._around, declaration.key
                self._struct(declaration, part)
                self._around = around
            case draft.Enum():
                self._enum(declaration, part)
            case draft.Alias():
                self._put(part, f"type {declaration.name} = {self._type(declaration.type)};")
            case draft.Const():
                typed = f"{declaration.name}: {self._type(declaration.type)}"
                self._put(part, f"const {typed} = {self._value(declaration.value)};")
            case draft.Service():
                extends = f" extends {self._name(declaration.base)}" if declaration.base else ""
                self._put(part, f"service {declaration.name}{extends} {{")
                for method in declaration.methods:
                    self._method(method, Part(declaration, method))
                self._put(part, "}")

    def _struct(self, struct: draft.Struct, part: Part) -> None:
        self._put(part, f"{struct.kind} {struct.name} {{")
        for inner in self._within.get(struct.key, ()):
            self._declaration(inner)
        self._put(part, "")
        for each in struct.members:
            self._put(Part(struct, each), *_doc(each.doc), self._member(each) + ";")
        if struct.reserved:
            self._put(part, f"reserved {', '.join(struct.reserved)};")
        self._put(part, "}")

    def _member(self, member: draft.Member) -> str:
        before = "".join(f"{each} " for each in member.annotations)
        number = "" if member.number is None else f"{member.number}: "
        default = "" if member.default is None else f" = {self._value(member.default)}"
        return f"{before}{number}{member.name}: {self._type(member.type)}{default}"

    def _method(self, method: draft.Method, part: Part) -> None:
        results = method.results
        behind = f" throws {', '.join(self._name(each) for each in method.throws)};" if method.throws else ";"
        self._put(part, *_doc(method.doc), *method.annotations, f"{method.name}(")
        self._list(method.parameters, part)
        if len(results) == 1 and not results[0].name:
            self._put(part, f") -> {self._type(results[0].type)}{behind}")
        elif results:
            self._put(part, ") -> (")
            self._list(results, part)
            self._put(part, f"){behind}")
        else:
            self._put(part, f"){behind}")

    def _list(self, members: list[draft.Member], part: Part) -> None:
        for at, each in enumerate(members, 1):
            self._put(part, *_doc(each.doc), self._member(each) + ("," if at < len(members) else ""))

    def _enum(self, enum: draft.Enum, part: Part) -> None:
        self._put(part, f"{'open ' if enum.open else ''}enum {enum.name}: i32 {{")
        for each in enum.members:
            before = "".join(f"{annotation} " for annotation in each.annotations)
            self._put(Part(enum, each), *_doc(each.doc), f"{before}{each.name} = {each.number},")
        self._put(part, "}")

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
