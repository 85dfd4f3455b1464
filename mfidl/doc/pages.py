"""The pages of a program: one a module, and where there are several an index of them."""

import json
from collections.abc import Iterable

from markupsafe import Markup

from mfidl import __version__, model
from mfidl.doc.links import INDEX, Links, file_name
from mfidl.doc.render import render
from mfidl.doc.sections import Sections
from mfidl.doc.services import service_section
from mfidl.doc.views import Facts, Group, ModuleLink, Page, Section
from mfidl.emit.output import GeneratedFile
from mfidl.explain import Explainer, Types

_SCRIPT_SAFE = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


def generate(program: model.Program) -> list[GeneratedFile]:
    """The pages of the requested modules."""
    links, types = Links(program), Types(program)
    modules = sorted(program.requested, key=lambda each: each.name)
    made = [(module, Sections(links, Explainer(types, module))) for module in modules]
    files = [
        GeneratedFile(file_name(module.name), _module_page(module, sections, made), module.name)
        for module, sections in made
    ]
    if len(made) > 1:
        files.append(GeneratedFile(INDEX, _index_page(made)))
    return files


Made = list[tuple[model.Module, Sections]]


def _module_page(module: model.Module, sections: Sections, made: Made) -> str:
    groups = tuple(_groups(module, sections))
    page = Page(
        title=module.name,
        path=module.path,
        doc=sections.doc(module.doc),
        facts=_imports(module, sections),
        groups=groups,
        modules=_module_links(made, module.name),
        home=INDEX if len(made) > 1 else "",
        index=_index([*_names(groups, ""), *_others(made, module.name)]),
        version=__version__,
    )
    return render("page.html.j2", page=page)


def _index_page(made: Made) -> str:
    names: list[tuple[str, str, str, str]] = []
    for module, sections in made:
        names += _names(tuple(_groups(module, sections)), file_name(module.name), module.name)
    page = Page(
        title="Modules",
        path="",
        doc=Markup(""),
        facts=None,
        groups=(),
        modules=_module_links(made, ""),
        home="",
        index=_index(names),
        version=__version__,
    )
    return render("page.html.j2", page=page)


def _groups(module: model.Module, sections: Sections) -> Iterable[Group]:
    kinds: tuple[tuple[str, str, list[Section]], ...] = (
        ("services", "Services", [service_section(sections, each) for each in module.services]),
        ("topics", "Topics", [sections.topic(each) for each in module.topics]),
        ("structs", "Structs", _declared(sections, [s for s in module.structs if not s.is_error])),
        ("unions", "Unions", _declared(sections, module.unions)),
        ("enums", "Enums and flags", _declared(sections, (*module.enums, *module.flags))),
        ("errors", "Errors", _declared(sections, module.errors)),
        ("types", "Aliases", _declared(sections, module.aliases)),
        ("constants", "Constants", [sections.constant(each) for each in module.constants]),
        ("agents", "Agents", [sections.agent(each) for each in module.agents]),
    )
    for id_, title, found in kinds:
        if found:
            yield Group(f"mf-{id_}", title, tuple(found))


def _declared(sections: Sections, declarations: Iterable[model.Declaration]) -> list[Section]:
    """In the order of the file."""
    ordered = sorted(declarations, key=lambda each: each.span.start if each.span else 0)
    return [sections.declaration(each) for each in ordered]


def _imports(module: model.Module, sections: Sections) -> Facts | None:
    if not module.imports:
        return None
    names = [Markup("<code>{}</code>").format(sections.links.module(each.module)) for each in module.imports]
    return Facts((("Imports", Markup(", ").join(names)),))


def _module_links(made: Made, current: str) -> tuple[ModuleLink, ...]:
    return tuple(
        ModuleLink(
            module.name,
            file_name(module.name),
            module.name == current,
            sections.abstract(module.doc),
            _counts(module),
        )
        for module, sections in made
    )


def _counts(module: model.Module) -> str:
    types = len([each for each in module.declarations if not isinstance(each, model.Alias)])
    counted = ((len(module.services), "service"), (len(module.topics), "topic"), (types, "type"))
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted if count)


# The search index: (name, kind, address, module)

Entry = tuple[str, str, str, str]


def _names(groups: tuple[Group, ...], file: str, module: str = "") -> list[Entry]:
    """Everything that has a name and a place."""
    found: list[Entry] = []
    for group in groups:
        for section in group.sections:
            found += _of_section(section, section.keyword, file, module)
            for inner in section.inner:
                found += _of_section(inner, "method", file, module)
    return found


def _of_section(section: Section, kind: str, file: str, module: str) -> list[Entry]:
    found = [(section.id, kind, f"{file}#{section.id}", module)]
    for part in section.parts:
        rows = getattr(part, "rows", ()) if part.template == "table.html.j2" else ()
        found += [(row.id, _MEMBERS.get(kind, "field"), f"{file}#{row.id}", module) for row in rows if row.id]
    return found


_MEMBERS = {"enum": "member", "flags": "flag", "union": "alternative"}


def _others(made: Made, current: str) -> list[Entry]:
    """The declarations of the other pages."""
    found: list[Entry] = []
    for module, _ in made:
        if module.name != current:
            file = file_name(module.name)
            found += [(name, kind, f"{file}#{name}", module.name) for name, kind in _declared_names(module)]
    return found


def _declared_names(module: model.Module) -> Iterable[tuple[str, str]]:
    yield from ((each.name, "service") for each in module.services)
    yield from ((each.name, "topic") for each in module.topics)
    yield from ((each.name, each.kind.value) for each in module.structs)
    yield from ((each.name, "union") for each in module.unions)
    yield from ((each.name, "enum") for each in module.enums)
    yield from ((each.name, "flags") for each in module.flags)
    yield from ((each.name, "type") for each in module.aliases)
    yield from ((each.name, "const") for each in module.constants)


def _index(entries: list[Entry]) -> Markup:
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_SCRIPT_SAFE))
