"""F1. One diagnostic, and the sink that every stage reports to.

A diagnostic is data: code, message, the smallest wrong span, notes for related places, a suggestion, and, if
it is certain enough to be offered by an editor, the fix. The sink keeps one message for each mistake (the
same text at the same place only once) and shows at most SHOWN_LIMIT for a file.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mfidl.diagnostics.codes import CATALOGUE
from mfidl.source import SourceFile, Span

SHOWN_LIMIT = 100  # of one file; the rest is counted in a last line
_KEPT_LIMIT = 10 * SHOWN_LIMIT  # kept for sorting; the limit protects the memory against hostile files


@dataclass(frozen=True, slots=True)
class Note:
    """A further place that the message speaks of ("first declared here")."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """The text that repairs the mistake when it replaces `span`."""

    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`span` is None only if there is no place in a file (a missing file on the command line)."""

    code: str
    message: str
    span: Span | None
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    counts: int = 1  # the number of mistakes that it covers: "17 more errors" is one diagnostic
    is_mild: bool = False  # a warning, although its code is that of an error

    @property
    def severity(self) -> str:
        """`error` or `warning`: the first letter of the code says it (L: a finding of lint; R: of `breaking`,
        about an order of upgrades)."""
        return "warning" if self.is_mild or self.code[0] in "WLR" else "error"

    def sort_key(self) -> tuple[str, int, int, str, str]:
        if self.span is None:
            return ("", 0, 0, self.code, self.message)
        return (self.span.file.name, self.span.start, self.span.end, self.code, self.message)


class Diagnostics:
    """Collects the errors and warnings of one run. It is true if there is an error; warnings are not
    failures.
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
        """Reports a code; `values` fill the message of its row in the catalogue. A `fix` that is a text
        replaces the span.
        """
        message = CATALOGUE[code].message.format(**values)
        if isinstance(fix, str):
            fix = None if span is None else Fix(span, fix)
        self.add(Diagnostic(code, message, span, tuple(notes), help, fix))

    warning = error  # reads better where a W code is reported

    def add(self, diagnostic: Diagnostic) -> None:
        """Reports what was made before, for instance when a file was parsed that did not change since."""
        if diagnostic.sort_key() not in self._seen:
            self._take(diagnostic)

    def __iter__(self) -> Iterator[Diagnostic]:
        """In the order in which they were reported."""
        return iter(self._items)

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
        """Sorted by file and place, so that the output does not depend on the order of the passes; at most
        SHOWN_LIMIT for a file, and then one line with the number of the others.
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
        """The line that replaces all hidden diagnostics."""
        count = self._binned[_bin(first_hidden)] - SHOWN_LIMIT
        code = "E0007" if first_hidden.severity == "error" else "W0007"
        return Diagnostic(code, CATALOGUE[code].message.format(count=count), first_hidden.span, counts=count)


def _bin(diagnostic: Diagnostic) -> tuple[SourceFile | None, str]:
    """The key for counting: errors and warnings of each file separately, so that neither hides the other."""
    return (None if diagnostic.span is None else diagnostic.span.file), diagnostic.severity
