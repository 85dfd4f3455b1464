"""F4. `@cpp.name` and `@python.name`: names that the schema prescribes for one language, used unchanged.

So a prescribed name must be one of that language, and of two members of a scope none may end with the name of
the other. Names that are not prescribed give way in generated code, by its own rule.
"""

import re
from collections.abc import Mapping

from mfidl import model
from mfidl.diagnostics import Note
from mfidl.model.target_words import CPP_RESERVED, PYTHON_RESERVED
from mfidl.semantics.annotations import Read, bad_arguments, only_argument
from mfidl.semantics.context import Context
from mfidl.semantics.symbols import Scope, Symbol
from mfidl.source import Span
from mfidl.syntax import ast

_IDENTIFIER = re.compile("[A-Za-z_][A-Za-z_0-9]*")
_LANGUAGES = {"cpp": "C++", "python": "Python"}
_RESERVED = {"cpp": CPP_RESERVED, "python": PYTHON_RESERVED}


class TargetScope:
    """The names of one scope of the schema: a module, or the members of one declaration."""

    __slots__ = ("_context", "_members")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._members: list[tuple[ast.Name, dict[str, tuple[str, Span]]]] = []

    def read(self, name: ast.Name, read: Read) -> model.TargetNames:
        """The names that are prescribed for one member, where they are names."""
        made: dict[str, tuple[str, Span]] = {}
        for language in _LANGUAGES:
            annotation = read.get(f"{language}.name")
            if annotation is not None:
                found = self._prescribed(annotation, language)
                if found is not None:
                    made[language] = found
        self._members.append((name, made))
        in_order = sorted(made.items(), key=lambda item: item[1][1].start)
        return tuple((language, text) for language, (text, _) in in_order)

    def _prescribed(self, annotation: ast.Annotation, language: str) -> tuple[str, Span] | None:
        value = only_argument(self._context, annotation)
        if value is None or isinstance(value, ast.BrokenExpr):
            return None
        if not isinstance(value, ast.StringLiteral):
            bad_arguments(self._context, annotation)
            return None
        text = value.data.decode("utf-8", "replace")
        reason = _fault(text, language)
        if reason is None:
            return text, value.span
        self._context.diagnostics.error(
            "E0619", value.span, text=text, language=_LANGUAGES[language], reason=reason
        )
        return None

    def check(self) -> None:
        """Report prescribed names that another member has too; once all members are read."""
        if not any(prescribed for _, prescribed in self._members):
            return
        for language in _LANGUAGES:
            free = {name.text: name for name, prescribed in self._members if language not in prescribed}
            self._check(language, free)

    def _check(self, language: str, free: Mapping[str, ast.Name]) -> None:
        first: dict[str, ast.Name] = {}
        for name, prescribed in self._members:
            if language not in prescribed:
                continue
            text, span = prescribed[language]
            other = first.get(text) or free.get(text)
            if other is None or other.text == name.text:
                first.setdefault(text, name)
                continue
            notes = [Note(f"by `{other.text}`", other.span)]
            self._context.diagnostics.error(
                "E0317", span, notes=notes, text=text, language=_LANGUAGES[language]
            )


class Targets:
    """The scopes in which declarations stand: of each module, and of each declaration that declares types."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._scopes: dict[str, dict[str, TargetScope]] = {scope.prefix: {} for scope in context.scopes}

    def of(self, symbol: Symbol) -> TargetScope:
        scopes = self._scopes[symbol.scope.prefix]
        if symbol.within not in scopes:
            scopes[symbol.within] = TargetScope(self._context)
        return scopes[symbol.within]

    def check(self, module: Scope) -> None:
        for each in self._scopes[module.prefix].values():
            each.check()


def _fault(text: str, language: str) -> str | None:
    """Why a text cannot be a name in a language, or None."""
    if not _IDENTIFIER.fullmatch(text):
        return "a name is a letter or _, then letters, digits and _"
    if text in _RESERVED[language]:
        return "it is reserved there"
    if language == "cpp" and ("__" in text or re.match("_[A-Z]", text)):
        return "names with __ or _ and a capital belong to the compiler"
    if language == "python" and text.startswith("__"):
        return "names that begin with __ belong to the language"
    return None
