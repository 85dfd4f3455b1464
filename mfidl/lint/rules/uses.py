"""L03: unused declarations, and uses of deprecated ones."""

import re
from collections.abc import Iterator

from mfidl import model
from mfidl.diagnostics import Fix
from mfidl.lint.subject import Finding, Subject
from mfidl.lint.walk import paths
from mfidl.source import Span

_END_OF_LINE = re.compile(r"[ \t]*(?:\r\n?|\n)")


def unused_imports(subject: Subject) -> Iterator[Finding]:
    pending = [path.text for path, _, _ in paths(subject.file)]
    used: set[str] = set()
    while pending:  # types within others of another module, and members of enums, have more words behind it
        name = pending.pop().rpartition(".")[0]
        if name and name not in used:
            used.add(name)
            pending.append(name)
    for declaration, full_name in subject.imports:
        local = declaration.alias.text if declaration.alias else full_name.rpartition(".")[2]
        if local not in used and full_name not in used:
            span, fix = declaration.target.span, Fix(_line(declaration.span), "")
            yield Finding("L0301", span, {"name": full_name}, "remove the import", fix=fix)


def _line(span: Span) -> Span:
    """With the end of its line, where nothing else follows there."""
    behind = _END_OF_LINE.match(span.file.text, span.end)
    return span if behind is None else Span(span.file, span.start, behind.end())


def errors_never_thrown(subject: Subject) -> Iterator[Finding]:
    if not subject.module.services:
        return
    thrown = subject.whole.thrown
    for declaration, struct in subject.structs():
        if declaration.keyword == "error" and struct.full_name not in thrown:
            yield Finding("L0302", declaration.name.span, {"name": struct.name})


def agents_never_used(subject: Subject) -> Iterator[Finding]:
    if not (subject.module.services or subject.module.topics):
        return
    used = subject.whole.agents
    for agent in subject.module.agents:
        if agent.full_name not in used and agent.span is not None:
            yield Finding("L0303", agent.span, {"name": agent.name})


def deprecated_names(subject: Subject) -> Iterator[Finding]:
    """Looks at the names that are written: types, errors, agents, constants, and members of enums and
    flags."""
    known = subject.whole.deprecated
    if not known:
        return
    full_names = _Names(subject)
    for path, inside_deprecated, within in paths(subject.file):
        found = known.get(full_names.of(path.text, within))
        if found is not None and not inside_deprecated:
            kind, each = found
            why = f": {each.deprecated}" if each.deprecated else ""
            yield Finding("L0304", path.span, {"kind": kind, "name": path.text, "why": why})


class _Names:
    """Full names of what a file mentions."""

    def __init__(self, subject: Subject) -> None:
        self._own = subject.module.name + "."
        self._inner = {model.local_name(each) for each in subject.module.declarations if each.within}
        self._modules: dict[str, str] = {}
        for declaration, full_name in subject.imports:
            local = declaration.alias.text if declaration.alias else full_name.rpartition(".")[2]
            self._modules |= {full_name: full_name, local: full_name}

    def of(self, text: str, within: str) -> str:
        """`within`: the declarations around the place that mentions it."""
        first = text.partition(".")[0]
        while within and self._inner:
            if f"{within}.{first}" in self._inner:
                return f"{self._own}{within}.{text}"
            within = within.rpartition(".")[0]
        qualifier = text
        while qualifier:  # of a member of an enum it is the qualifier of the enum
            qualifier = qualifier.rpartition(".")[0]
            if qualifier in self._modules:
                return self._modules[qualifier] + text[len(qualifier) :]
        return self._own + text.removeprefix(self._own)
