"""F1. One diagnostic, and the sink that every stage reports to.

A diagnostic is data: code, message, the smallest wrong span, notes where the other party stands, a
suggestion, and, where the mending is certain enough for an editor to offer it, the fix. The sink keeps one
message per mistake (the same text at the same place is taken once) and shows at most SHOWN_LIMIT a file.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mfidl.diagnostics.codes import CATALOGUE
from mfidl.source import SourceFile, Span

SHOWN_LIMIT = 100  # of one file; the rest is counted in a last line
_KEPT_LIMIT = 10 * SHOWN_LIMIT  # what is kept of one file, to sort it; a hostile one must not fill the memory


@dataclass(frozen=True, slots=True)
class Note:
    """A further place that the message speaks of ("first declared here")."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """The text that mends the mistake when it takes the place of `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`span` is None only for what has no place in a file (a missing file on the command line)."""

    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    counts: int = 1  # how many mistakes it speaks of: "17 more errors" is one diagnostic

    @property
    def severity(self) -> str:
        """`error` or `warning`: the first letter of the code says it (L: a finding of lint; R: of `breaking`,
        about an order of upgrades)."""
        return "warning" if self.code[0] in "WLR" else "error"

    def sort_key(self) -> tuple[str, int, int, str, str]:
        if self.span is None:
            return ("", 0, 0, self.code, self.message)
        return (self.span.file.name, self.span.start, self.span.end, self.code, self.message)


class Diagnostics:
    """Collects the errors and warnings of one run. True once there is an error; a warning alone is no
    failure.
    """

    __slots__ = ("_binned", "_items", "_seen")

    def __init__(self) -> None:
        self._seen: set[tuple[str, int, int, str, str]] = set()
        self._items: list[Diagnostic] = []
        self._binned: Counter[tuple[SourceFile | None, str]] = Counter()

    def error(
        self,
        code: str,
        span: Span | None,
        *,
        notes: Sequence[Note] = (),
        help: str | None = None,
        fix: str | Fix | None = None,
        **values: object,
    ) -> None:
        """Report a code; `values` fill the message of its row in the catalogue. A `fix` that is a text takes
        the place of the span.
        """
        message = CATALOGUE[code].message.format(**values)
        if isinstance(fix, str):
            fix = None if span is None else Fix(span, fix)
        diagnostic = Diagnostic(code, message, span, tuple(notes), help, fix)
        if diagnostic.sort_key() not in self._seen:
            self._take(diagnostic)

    warning = error  # reads better where a W code is reported

    def _take(self, diagnostic: Diagnostic) -> None:
        bin_ = _bin(diagnostic)
        self._binned[bin_] += 1
        if self._binned[bin_] <= _KEPT_LIMIT:
            self._seen.add(diagnostic.sort_key())
            self._items.append(diagnostic)

    def __bool__(self) -> bool:
        return any(severity == "error" for _, severity in self._binned)

    def __len__(self) -> int:
        return len(self._items)

    def sorted(self) -> list[Diagnostic]:
        """By file and place, so that output does not depend on the order of the passes; at most SHOWN_LIMIT
        of a file, and then one line with the number of the others.
        """
        shown: list[Diagnostic] = []
        counted: Counter[tuple[SourceFile | None, str]] = Counter()
        for each in sorted(self._items, key=Diagnostic.sort_key):
            bin_ = _bin(each)
            counted[bin_] += 1
            if counted[bin_] <= SHOWN_LIMIT:
                shown.append(each)
            elif counted[bin_] == SHOWN_LIMIT + 1:
                shown.append(self._more(each))
        return shown

    def _more(self, first_hidden: Diagnostic) -> Diagnostic:
        """The line in place of all that is not shown."""
        count = self._binned[_bin(first_hidden)] - SHOWN_LIMIT
        code = "E0007" if first_hidden.severity == "error" else "W0007"
        return Diagnostic(code, CATALOGUE[code].message.format(count=count), first_hidden.span, counts=count)


def _bin(diagnostic: Diagnostic) -> tuple[SourceFile | None, str]:
    """What is counted together: of one file, errors and warnings apart, so that neither hides the other."""
    return (None if diagnostic.span is None else diagnostic.span.file), diagnostic.severity
