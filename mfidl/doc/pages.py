"""The pages of a program: one a module, and where there are several an index of them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from mfidl import __version__, model
from mfidl.doc.links import INDEX, Links, file_name
from mfidl.doc.render import render
from mfidl.doc.sections import Sections
from mfidl.doc.services import service_section
from mfidl.doc.views import Facts, Group, ModuleLink, Page, Section
from mfidl.emit.output import GeneratedFile
from mfidl.explain import Explainer, Types

Entry = tuple[str, str, str, str]  # of the search index: name, kind, address, module

_SCRIPT_SAFE = {
    ord("<"): "\\u003c",
    ord(">"): "\\u003e",
    ord("&"): "\\u0026",
    0x2028: "\\u2028",
    0x2029: "\\u2029",
}


@dataclass(frozen=True, slots=True)
class _Made:
    """A module with what its page says."""

    module: model.Module
    sections: Sections
    groups: tuple[Group, ...]

    @property
    def file(self) -> str:
        return file_name(self.module.name)


def generate(program: model.Program) -> list[GeneratedFile]:
    """The pages of the requested modules."""
    links, types = Links(program), Types(program)
    made = []
    for module in sorted(program.requested, key=lambda each: each.name):
        sections = Sections(links, Explainer(types, module))
        made.append(_Made(module, sections, tuple(_groups(module, sections))))
    files = [GeneratedFile(each.file, _module_page(each, made), each.module.name) for each in made]
    if len(made) > 1:
        files.append(GeneratedFile(INDEX, _index_page(made)))
    return files


def _module_page(this: _Made, made: list[_Made]) -> str:
    module = this.module
    entries = _names(this.groups, "")
    for each in made:
        entries += [] if each is this else _declared_names(each)
    page = Page(
        title=module.name,
        path=module.path,
        doc=this.sections.doc(module.doc),
        facts=_imports(module, this.sections),
        groups=this.groups,
        modules=_module_links(made, module.name),
        home=INDEX if len(made) > 1 else "",
        index=_index(entries),
        version=__version__,
    )
    return render("page.html.j2", page=page)


def _index_page(made: list[_Made]) -> str:
    entries: list[Entry] = []
    for each in made:
        entries += _names(each.groups, each.file, each.module.name)
    page = Page(
        title="Modules",
        path="",
        doc=Markup(""),
        facts=None,
        groups=(),
        modules=_module_links(made, ""),
        home="",
        index=_index(entries),
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


def _module_links(made: list[_Made], current: str) -> tuple[ModuleLink, ...]:
    return tuple(
        ModuleLink(
            each.module.name,
            each.file,
            each.module.name == current,
            each.sections.abstract(each.module.doc),
            _counts(each.module),
        )
        for each in made
    )


def _counts(module: model.Module) -> str:
    types = len([each for each in module.declarations if not isinstance(each, model.Alias)])
    counted = ((len(module.services), "service"), (len(module.topics), "topic"), (types, "type"))
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counted if count)


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


def _declared_names(made: _Made) -> list[Entry]:
    """The declarations of another page, without what is in them."""
    sections = [section for group in made.groups for section in group.sections]
    return [(each.id, each.keyword, f"{made.file}#{each.id}", made.module.name) for each in sections]


def _index(entries: list[Entry]) -> Markup:
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_SCRIPT_SAFE))
