"""L03: what nobody uses, and what should not be used any more."""

from collections.abc import Iterator
from typing import Protocol

from mfidl import model
from mfidl.lint.subject import Finding, Subject
from mfidl.lint.walk import paths


class Deprecatable(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def deprecated(self) -> str | None: ...


def unused_imports(subject: Subject) -> Iterator[Finding]:
    used = {path.text.rpartition(".")[0] for path, _ in paths(subject.file)}
    used |= {name.rpartition(".")[0] for name in used}  # an enum of another module, before its member
    for declaration, full_name in subject.imports:
        local = declaration.alias.text if declaration.alias else full_name.rpartition(".")[2]
        if local not in used and full_name not in used:
            yield Finding("L0301", declaration.target.span, {"name": full_name}, "remove the import")


def errors_never_thrown(subject: Subject) -> Iterator[Finding]:
    if not subject.module.services:
        return
    thrown = {
        name.full_name
        for module in subject.program.modules
        for service in module.services
        for method in service.methods
        for name in method.throws
    }
    for declaration, struct in subject.structs():
        if declaration.keyword == "error" and struct.full_name not in thrown:
            yield Finding("L0302", declaration.name.span, {"name": struct.name})


def agents_never_used(subject: Subject) -> Iterator[Finding]:
    if not (subject.module.services or subject.module.topics):
        return
    used = {
        agent.full_name
        for module in subject.program.modules
        for agent in [*(each.agent for each in module.services), *(each.agent for each in module.topics)]
        if agent is not None
    }
    for agent in subject.module.agents:
        if agent.full_name not in used and agent.span is not None:
            yield Finding("L0303", agent.span, {"name": agent.name})


def deprecated_names(subject: Subject) -> Iterator[Finding]:
    """By the names that are written: types, errors, agents, constants, and members of enums and flags."""
    known = _deprecated(subject)
    for path, inside_deprecated in paths(subject.file):
        found = known.get(_full_name(subject, path.text))
        if found is not None and not inside_deprecated:
            kind, each = found
            why = f": {each.deprecated}" if each.deprecated else ""
            yield Finding("L0304", path.span, {"kind": kind, "name": path.text, "why": why})


def _full_name(subject: Subject, text: str) -> str:
    for declaration, full_name in subject.imports:
        local = declaration.alias.text if declaration.alias else full_name.rpartition(".")[2]
        for prefix in (full_name + ".", local + "."):
            if text.startswith(prefix):
                return f"{full_name}.{text.removeprefix(prefix)}"
    own = subject.module.name + "."
    return own + text.removeprefix(own)


def _deprecated(subject: Subject) -> dict[str, tuple[str, Deprecatable]]:
    found: dict[str, tuple[str, Deprecatable]] = {}
    for module in subject.program.modules:
        groups: tuple[tuple[str, tuple[Deprecatable, ...]], ...] = (
            ("type", module.declarations),
            ("constant", module.constants),
            ("agent", module.agents),
        )
        for kind, group in groups:
            for each in group:
                word = "error" if isinstance(each, model.Struct) and each.is_error else kind
                found[f"{module.name}.{each.name}"] = (word, each)
        for enum in module.enums:
            found |= {f"{enum.full_name}.{each.name}": ("member", each) for each in enum.members}
        for flags in module.flags:
            found |= {f"{flags.full_name}.{each.name}": ("member", each) for each in flags.members}
    return {name: (kind, each) for name, (kind, each) in found.items() if each.deprecated is not None}
