"""The addresses of declarations' documentation, relative to a page; and type expressions with links."""

from dataclasses import dataclass

from markupsafe import Markup, escape

from mfidl import model

INDEX = "index.html"


def file_name(module: str) -> str:
    """`sf1.search.html`. A module called `index` gets another name because of the index page."""
    return f"{module}_.html" if f"{module}.html" == INDEX else f"{module}.html"


@dataclass(frozen=True, slots=True)
class Target:
    """`local` is the name within the module, and the anchor on its page: `Index.query`."""

    module: str
    local: str


class Links:
    """Of the modules that get pages."""

    def __init__(self, program: model.Program) -> None:
        self._program = program
        self._pages = {module.name for module in program.requested}
        self._targets: dict[str, Target] = {}
        for module in program.requested:
            for local in _locals(module):
                self._targets[f"{module.name}.{local}"] = Target(module.name, local)
        self._locals: dict[str, list[str]] = {}
        for full_name, target in self._targets.items():
            self._locals.setdefault(target.local, []).append(full_name)
        self._imports = {
            module.name: {each.local_name: each.module for each in module.imports}
            for module in program.modules
        }

    def href(self, full_name: str, page: str) -> str | None:
        """None: it has no documentation here."""
        target = self._targets.get(full_name)
        if target is None:
            return None
        return f"#{target.local}" if target.module == page else f"{file_name(target.module)}#{target.local}"

    def resolve(self, word: str, page: str, scope: str) -> str | None:
        """The full name for a word of a doc comment, searched in its declaration, its module, imports, and
        everywhere.
        """
        head, _, rest = word.partition(".")
        imported = self._imports.get(page, {}).get(head)
        candidates = []
        while scope:
            candidates.append(f"{page}.{scope}.{word}")
            scope = scope.rpartition(".")[0]
        candidates += [f"{page}.{word}", word]
        if imported and rest:
            candidates.append(f"{imported}.{rest}")
        return next((each for each in candidates if each in self._targets), None)

    def local(self, local: str, page: str) -> Markup:
        """A name without its module: a link if this page has it, or only one other."""
        places = self._locals.get(local, [])
        here = [each for each in places if each == f"{page}.{local}"]
        found = here or places
        return self.name(found[0], local, page) if len(found) == 1 else escape(local)

    def module(self, name: str) -> Markup:
        """An imported module; a link where it has a page."""
        if name not in self._pages:
            return escape(name)
        return Markup('<a href="{}">{}</a>').format(file_name(name), name)

    def name(self, full_name: str, text: str, page: str) -> Markup:
        href = self.href(full_name, page)
        if href is None:
            return Markup('<span title="{}">{}</span>').format(full_name, text)
        return Markup('<a href="{}" title="{}">{}</a>').format(href, full_name, text)

    def type(self, type_: model.Type, page: str) -> Markup:
        """As the schema writes it, with every declared type a link."""
        match type_:
            case model.Primitive():
                return escape(model.spell(type_))
            case model.Named(full_name, _) | model.AliasOf(full_name, _):
                module = self._program.owner(full_name).name
                name = full_name.removeprefix(f"{module}.")
                shown = name if module == page else f"{module.rpartition('.')[2]}.{name}"
                return self.name(full_name, shown, page)
            case model.ListOf(element):
                return self._generic("list", page, element)
            case model.SetOf(element):
                return self._generic("set", page, element)
            case model.MapOf(key, value):
                return self._generic("map", page, key, value)
            case model.ArrayOf(element, length):
                return Markup("array&lt;{}, {}&gt;").format(self.type(element, page), length)
            case model.OptionalOf(element):
                return self.type(element, page) + Markup("?")
            case model.RefOf(element):
                return self._generic("ref", page, element)

    def _generic(self, word: str, page: str, *arguments: model.Type) -> Markup:
        inside = Markup(", ").join(self.type(each, page) for each in arguments)
        return Markup("{}&lt;{}&gt;").format(word, inside)


def _locals(module: model.Module) -> list[str]:
    """Every name that has a place on the module's page."""
    found = [each.name for each in module.constants]
    found += [each.name for each in module.agents]
    found += [each.name for each in module.topics]
    for declaration in module.declarations:
        name = model.local_name(declaration)
        found.append(name)
        match declaration:
            case model.Struct():
                found += [f"{name}.{each.name}" for each in declaration.fields]
            case model.Union():
                found += [f"{name}.{each.name}" for each in declaration.alternatives]
            case model.Enum() | model.Flags():
                found += [f"{name}.{each.name}" for each in declaration.members]
            case _:
                pass
    for service in module.services:
        found.append(service.name)
        found += [f"{service.name}.{each.name}" for each in service.methods]
    return found
