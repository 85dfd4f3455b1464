"""Signature help: how the annotation is written whose arguments are being typed."""

import re

from lsprotocol import types

from mfidl.lsp.place import Expected, Place
from mfidl.lsp.workspace import Snapshot
from mfidl.semantics.annotations import KNOWN
from mfidl.semantics.symbols import Symbol
from mfidl.syntax import ast

_ARGUMENTS = re.compile(r"\(([^)]*)\)")


def signature(snapshot: Snapshot | None, place: Place) -> types.SignatureHelp | None:
    if place.expected is not Expected.ARGUMENT:
        return None
    known = KNOWN.get(place.annotation)
    if known is not None:
        return _help(known.usage, _parameters(known.usage), known.meaning, place.argument)
    declaration = _own(snapshot, place.annotation)
    if declaration is None:
        return None
    arguments = [
        f"{each.name.text}: {each.type.span.text()}"
        + (f" = {each.default.span.text()}" if each.default is not None else "")
        for each in declaration.fields
    ]
    label = f"@{place.annotation}({', '.join(arguments)})"
    return _help(label, arguments, declaration.doc, place.argument)


def _parameters(usage: str) -> list[str]:
    """Of the first form that takes any."""
    found = _ARGUMENTS.search(usage)
    return [] if found is None else [each.strip() for each in found.group(1).split(",")]


def _own(snapshot: Snapshot | None, name: str) -> ast.StructDecl | None:
    if snapshot is None or snapshot.scope is None:
        return None
    found: Symbol | None = snapshot.scope.seen(name)
    if found is None:
        module, _, last = name.rpartition(".")
        holder = snapshot.scope.modules.get(module)
        found = None if holder is None else holder.symbols.get(last)
    declaration = None if found is None else found.declaration
    return declaration if isinstance(declaration, ast.StructDecl) else None


def _help(label: str, parameters: list[str], about: str, active: int) -> types.SignatureHelp:
    """Parameters by their text, which is in the label once."""
    made = types.SignatureInformation(
        label,
        types.MarkupContent(types.MarkupKind.Markdown, about) if about else None,
        [types.ParameterInformation(each) for each in parameters],
    )
    last = max(0, len(parameters) - 1)
    return types.SignatureHelp([made], active_signature=0, active_parameter=min(active, last))
