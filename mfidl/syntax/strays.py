"""F2. Characters that the language has no use for: what was meant, and reading on as if that stood there.

Between the scan and the parser. A `#` begins a comment elsewhere, so the rest of its line is none of the
parser's business; single and typographic quotes hold a text; a full-width semicolon is a semicolon. Each is
reported once, with what to write, and leaves no second mistake behind.
"""

import unicodedata
from bisect import bisect_right

from mfidl.diagnostics import Diagnostics, Fix
from mfidl.source import SourceFile, Span
from mfidl.syntax import token_types as tt
from mfidl.syntax.tokens import Scan, Token, scan

_CLOSING_QUOTES = {
    "'": "'",
    "`": "`",
    "\N{LEFT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT DOUBLE QUOTATION MARK}"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}"',
    "\N{DOUBLE LOW-9 QUOTATION MARK}": "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}",
    "\N{LEFT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}",
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}",
}
_MINUSES = "\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}\N{NON-BREAKING HYPHEN}\N{HYPHEN}"
_ADVICE = {
    "|": "alternatives are declared: `union Name { a: T; b: U; }`, and flags are listed by name",
    "&": "there are no references: write the type itself, or `ref<T>` in an archive struct",
    "!": "what is not optional needs no mark; there is no `!`",
    "$": "names are ASCII letters, digits and `_`",
    "\\": "a declaration may go on in the next line as it is",
    "~": "a service has no destructor, and a value no complement",
    **dict.fromkeys("+/%^", "values are not computed: write the result"),
}


def read_tokens(source: SourceFile, diagnostics: Diagnostics) -> list[Token]:
    """The tokens of a file for the parser; all that is wrong with its characters is reported."""
    scanned = scan(source)
    if scanned.strays:
        return _Mender(source, scanned, diagnostics).mend()
    scanned.report(source, diagnostics)
    return scanned.tokens


class _Mender:
    """One per file that has strays."""

    def __init__(self, source: SourceFile, scanned: Scan, diagnostics: Diagnostics) -> None:
        self._source = source
        self._text = source.text
        self._scanned = scanned
        self._diagnostics = diagnostics
        self._covered: list[tuple[int, int]] = []  # what was read as something else, in order
        self._supplied: list[Token] = []

    def mend(self) -> list[Token]:
        starts = [token.start for token in self._scanned.tokens]
        run_end = -1
        for start in self._scanned.strays:
            if self._is_covered(start):
                continue
            if run_end == start and self._text[start] == self._text[start - 1]:
                run_end = start + 1
                continue
            if not self._is_understood(start):
                if run_end != start:
                    self._stray(start, self._advice(self._text[start]))
                    self._scanned.tokens[bisect_right(starts, start)].broken = True
                run_end = start + 1
        for code, start, end, values in self._scanned.problems:
            if not self._is_covered(start):
                self._diagnostics.error(code, Span(self._source, start, end), **values)
        kept = [token for token in self._scanned.tokens if not self._is_covered(token.start)]
        return sorted([*kept, *self._supplied], key=lambda token: (token.start, token.end))

    def _is_covered(self, offset: int) -> bool:
        at = bisect_right(self._covered, (offset, len(self._text)))
        return at > 0 and offset < self._covered[at - 1][1]

    def _is_understood(self, start: int) -> bool:
        """Whether it is plain what was meant; that is then reported and read."""
        character = self._text[start]
        if character == "#" and (start == 0 or self._text[start - 1].isspace()):
            return self._comment(start)
        if character in _CLOSING_QUOTES:
            return self._quoted(start, _CLOSING_QUOTES[character])
        if character == "*" and self._text[start - 1 : start].isidentifier():
            return self._meant(start, "?", "there are no pointers: `T?` is what may be absent")
        if character in _MINUSES:
            return self._meant(start, "-", "write `-`")
        if character.isspace() or unicodedata.category(character) == "Cf":
            name = unicodedata.name(character, f"U+{ord(character):04X}").lower()
            self._stray(start, f"this is a {name}: write a space, or nothing", " ")
            return True
        plain = unicodedata.normalize("NFKC", character)
        if plain != character and plain in tt.PUNCTUATION:
            return self._meant(start, plain, f"write `{plain}`")
        return False

    def _comment(self, start: int) -> bool:
        end = self._end_of_line(start)
        rest = self._text[start + 1 : end].strip()
        words = rest.split(maxsplit=1)
        advice = {
            "include": 'write `import "path.mfidl";`',
            "define": "a constant is written `const NAME: u32 = 1;`",
            "pragma": "leave it out: a file is read once",
        }.get(words[0] if words and not rest.startswith(" ") else "", "comments begin with `//`")
        self._stray(start, advice, "//" if advice.startswith("comments") else None)
        self._covered.append((start, end))
        return True

    def _quoted(self, start: int, closing: str) -> bool:
        line = self._text[start + 1 : self._end_of_line(start)]
        ends = [at for at in map(line.find, closing) if at >= 0]
        if not ends:
            return False
        end = start + 1 + min(ends) + 1
        span = Span(self._source, start, end)
        held = self._text[start + 1 : end - 1]
        fix = None if '"' in held or "\\" in held else Fix(span, f'"{held}"')
        self._diagnostics.error("E0114", span, help='write "..."', fix=fix)
        self._covered.append((start, end))
        self._supplied.append(Token(tt.BAD_STRING, self._text[start:end], start, end, broken=True))
        return True

    def _meant(self, start: int, text: str, advice: str) -> bool:
        self._stray(start, advice, text)
        self._supplied.append(Token(tt.PUNCTUATION[text], text, start, start + 1))
        return True

    def _stray(self, start: int, advice: str | None, fix: str | None = None) -> None:
        character = self._text[start]
        shown = (
            f"`{character}`"
            if character.isprintable() and not character.isspace()
            else f"U+{ord(character):04X}"
        )
        span = Span(self._source, start, start + 1)
        self._diagnostics.error("E0104", span, help=advice, fix=fix, character=shown)

    def _advice(self, character: str) -> str | None:
        if character.isalnum():
            return "names are ASCII letters, digits and `_`"
        return _ADVICE.get(character)

    def _end_of_line(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end
