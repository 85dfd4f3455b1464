"""F4. `@was("color")`: the earlier names of a member. Each identifies only that member."""

from collections.abc import Mapping

from mfidl.diagnostics import Note
from mfidl.semantics.annotations import Read, bad_arguments
from mfidl.semantics.context import Context
from mfidl.semantics.lower.reserved import IDENTIFIER
from mfidl.source import Span
from mfidl.syntax import ast


class EarlierNames:
    """Of the members of one declaration. `current` are the names in use, `reserved` those that may not be."""

    def __init__(
        self, context: Context, current: Mapping[str, Span], reserved: Mapping[str, Span] | None = None
    ) -> None:
        self._context = context
        self._current = current
        self._reserved = reserved or {}
        self._taken: dict[str, Span] = {}

    def of(self, name: ast.Name, read: Read) -> tuple[str, ...]:
        """The sound earlier names of one member."""
        annotation = read.get("was")
        if annotation is None:
            return ()
        if not annotation.arguments or any(each.key is not None for each in annotation.arguments):
            bad_arguments(self._context, annotation)
            return ()
        made = []
        for argument in annotation.arguments:
            value = argument.value
            if isinstance(value, ast.BrokenExpr):
                continue
            if not isinstance(value, ast.StringLiteral):
                bad_arguments(self._context, annotation)
                return ()
            earlier = value.data.decode("utf-8", "replace")
            if self._is_free(name, earlier, value.span):
                self._taken[earlier] = value.span
                made.append(earlier)
        return tuple(made)

    def _is_free(self, name: ast.Name, earlier: str, span: Span) -> bool:
        hint = None
        if not IDENTIFIER.fullmatch(earlier):
            self._context.diagnostics.error("E0430", span, name=earlier)
            return False
        if earlier == name.text:
            reason, other = "it is the name that it has now", None
        elif earlier in self._current:
            reason, other = "that is another member's name now", self._current[earlier]
        elif earlier in self._taken:
            reason, other = "it is an earlier name already", self._taken[earlier]
        elif earlier in self._reserved:
            reason, other = "it is reserved too", self._reserved[earlier]
            hint = f'leave "{earlier}" out of `reserved`: an earlier name cannot be taken by another member'
        else:
            return True
        notes = [] if other is None else [Note("here", other)]
        self._context.diagnostics.error(
            "E0615", span, notes=notes, help=hint, name=name.text, earlier=earlier, reason=reason
        )
        return False
