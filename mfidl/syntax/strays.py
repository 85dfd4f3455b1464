"""F2. Characters without a meaning in the language: finds what was meant, and continues as if that were
written.

Runs between the scan and the parser. A `#` begins a comment in other languages, so the parser does not see
the rest of its line; single and typographic quotes enclose a text; a full-width semicolon is a semicolon.
Each is reported once, with what to write, and causes no second error.
"""

import re
import unicodedata
from bisect import bisect_right

from mfidl.diagnostics import Diagnostics
from mfidl.source import SourceFile, Span
from mfidl.syntax import token_types as tt
from mfidl.syntax.passages import Passage, passages, strings_over_lines
from mfidl.syntax.tokens import Scan, Token

_CLOSING_QUOTES = {
    "'": "'",
    "`": "`",
    "\N{LEFT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}\N{LEFT DOUBLE QUOTATION MARK}"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '\N{RIGHT DOUBLE QUOTATION MARK}"',
    "\N{DOUBLE LOW-9 QUOTATION MARK}": "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}",
    "\N{LEFT SINGLE QUOTATION MARK}": "\N{RIGHT SINGLE QUOTATION MARK}",
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}",
}
_WORD = re.compile(r"[\w\N{ZERO WIDTH SPACE}\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}\N{SOFT HYPHEN}]+")
_LONGEST_QUOTED = 1000
_GROUPS = re.compile(r"(?:'[0-9]+)+")
_MINUSES = "\N{MINUS SIGN}\N{EN DASH}\N{EM DASH}\N{NON-BREAKING HYPHEN}\N{HYPHEN}"
_ADVICE = {
    "|": "alternatives are declared: `union Name { a: T; b: U; }`, and flags are listed by name",
    "&": "there are no references: write the type itself, or `ref<T>` in an archive struct",
    "!": "there is no `!`: write the value itself; a type without `?` always has one",
    "/": "values are not computed, names are joined with `.`, and comments begin with `//`",
    "$": "names are ASCII letters, digits and `_`",
    "\\": "a declaration may go on in the next line as it is",
    "~": "a service has no destructor, and a value no complement",
    **dict.fromkeys("%^", "values are not computed: write the result"),
}


def mended(source: SourceFile, scanned: Scan, diagnostics: Diagnostics) -> list[Token]:
    """The tokens of a file for the parser; everything that is wrong with its characters is reported."""
    return _Mender(source, scanned, diagnostics).mend()


class _Mender:
    """One for each file that needs repair."""

    def __init__(self, source: SourceFile, scanned: Scan, diagnostics: Diagnostics) -> None:
        self._source = source
        self._text = source.text
        self._scanned = scanned
        self._diagnostics = diagnostics
        self._covered: list[tuple[int, int]] = []  # what was read as something else, in order
        self._supplied: list[Token] = []
        self._reported: set[int] = set()  # problems that a passage has reported already

    def mend(self) -> list[Token]:
        held = strings_over_lines(self._text, self._scanned.problems)
        for passage in sorted([*passages(self._text), *held], key=lambda each: each.start):
            self._hide(passage)
        self._mend_strays()
        for code, start, end, values in self._scanned.problems:
            if start not in self._reported and not self._is_covered(start):
                self._diagnostics.error(code, Span(self._source, start, end), **values)
        kept = [token for token in self._scanned.tokens if not self._is_covered(token.start)]
        return sorted([*kept, *self._supplied], key=lambda token: (token.start, token.end))

    def _hide(self, passage: Passage) -> None:
        if self._is_covered(passage.start):
            return
        if passage.code is not None:
            self._diagnostics.error(passage.code, Span(self._source, *passage.place), help=passage.help)
        self._cover(passage.start, passage.end)
        if passage.code == "E0105":
            self._reported.add(passage.place[0])
        for at, character in enumerate(passage.supplies.strip(), passage.end):
            if character in tt.PUNCTUATION:
                self._supplied.append(Token(tt.PUNCTUATION[character], character, at, at))

    def _mend_strays(self) -> None:
        starts = [token.start for token in self._scanned.tokens]
        run_end = -1
        for start in self._scanned.strays:
            goes_on = run_end == start
            if goes_on and self._text[start] == self._text[start - 1]:
                run_end = start + 1
            elif not self._is_covered(start) and not self._is_understood(start):
                if not goes_on:
                    self._stray(start, self._advice(start))
                    self._scanned.tokens[bisect_right(starts, start)].broken = True
                run_end = start + 1

    def _is_covered(self, offset: int) -> bool:
        at = bisect_right(self._covered, (offset, len(self._text)))
        return at > 0 and offset < self._covered[at - 1][1]

    def _cover(self, start: int, end: int) -> None:
        self._covered.insert(bisect_right(self._covered, (start, end)), (start, end))

    # Intended meaning

    def _is_understood(self, start: int) -> bool:
        """Whether it is clear what was meant; that is then reported and read."""
        character = self._text[start]
        before = self._text[start - 1 : start]
        if character == "#" and (not before or before.isspace()):
            return self._comment(start)
        if character == "'" and before.isdigit() and _GROUPS.match(self._text, start):
            return self._groups(start)
        if character in _CLOSING_QUOTES:
            return self._quoted(start, _CLOSING_QUOTES[character])
        if character == "*":
            return self._star(start, before)
        if character in _MINUSES:
            arrow = self._text[start + 1 : start + 2] == ">"
            return self._meant(start, "->" if arrow else "-", 2 if arrow else 1)
        plain = unicodedata.normalize("NFKC", character)
        if plain != character and plain in tt.PUNCTUATION:
            return self._meant(start, plain)
        if character.isalnum() or unicodedata.category(character) in ("Cf", "Mn"):
            return self._word(start)
        return character.isspace() and self._space(start)

    def _comment(self, start: int) -> bool:
        end = self._end_of_line(start)
        words = self._text[start + 1 : end].split(maxsplit=1)
        advice = {
            "include": 'write `import "path.mfidl";`',
            "define": "a constant is written `const NAME: u32 = 1;`",
            "pragma": "leave it out: a file is read once",
            **dict.fromkeys(
                ("if", "ifdef", "ifndef", "else", "endif"), "there is no preprocessor: leave it out"
            ),
        }.get(words[0] if words and self._text.startswith(words[0], start + 1) else "")
        self._stray(start, advice or "comments begin with `//`", None if advice else "//")
        self._cover(start, end)
        return True

    def _groups(self, start: int) -> bool:
        matched = _GROUPS.match(self._text, start)
        assert matched is not None
        self._stray(start, "digits are grouped with `_`: 1_000_000", "_")
        self._cover(start, matched.end())
        return True

    def _quoted(self, start: int, closing: str) -> bool:
        line = self._text[start + 1 : start + 1 + _LONGEST_QUOTED].partition("\n")[0]
        ends = [at for at in map(line.find, closing) if at >= 0]
        if not ends:
            return False
        end = start + 1 + min(ends) + 1
        span = Span(self._source, start, end)
        held = self._text[start + 1 : end - 1]
        fix = None if '"' in held or "\\" in held else f'"{held}"'
        advice = f"write `{fix}`" if fix and len(fix) <= 40 else 'write "..."'
        self._diagnostics.error("E0114", span, help=advice, fix=fix)
        self._cover(start, end)
        self._supplied.append(Token(tt.BAD_STRING, self._text[start:end], start, end, broken=True))
        return True

    def _star(self, start: int, before: str) -> bool:
        if self._text.startswith("*/", start):
            self._stray(start, "comments do not nest: this one ended at the first `*/`")
            self._cover(start, start + 2)
            return True
        if not before.isidentifier():
            return False
        self._stray(start, "there are no pointers: `T?` is what may be absent", "?")
        self._supplied.append(Token(tt.PUNCTUATION["?"], "?", start, start + 1))
        return True

    def _meant(self, start: int, text: str, length: int = 1) -> bool:
        self._stray(start, f"write `{text}`", text[:1])
        self._cover(start, start + length)
        self._supplied.append(Token(tt.PUNCTUATION[text], text, start, start + length))
        return True

    def _word(self, start: int) -> bool:
        """Reads a name with letters, or invisible characters, that names must not have as one word."""
        matched = _WORD.match(self._text, self._begin_of_word(start))
        if matched is None or not matched.start() <= start < matched.end():
            return unicodedata.category(self._text[start]) == "Cf" and self._space(start)
        text = "".join(c for c in matched.group() if unicodedata.category(c) != "Cf")
        if not text:
            self._cover(*matched.span())
            return self._space(start)
        if text.isascii():
            self._space(start)
        else:
            name = unicodedata.name(self._text[start], f"U+{ord(self._text[start]):04X}").lower()
            self._stray(start, f"names are ASCII letters, digits and `_`; this is {name}")
        ttype = tt.KEYWORDS.get(text, tt.NAME)
        self._cover(*matched.span())
        self._supplied.append(Token(ttype, text, *matched.span(), broken=not text.isascii()))
        return True

    def _begin_of_word(self, start: int) -> int:
        while start > 0 and _WORD.match(self._text[start - 1]):
            start -= 1
        return start

    def _space(self, start: int) -> bool:
        character = self._text[start]
        name = unicodedata.name(character, "a control character").lower()
        self._stray(start, f"this is {name}, which cannot be seen: leave it out, or write a space", " ")
        return True

    def _stray(self, start: int, advice: str | None, fix: str | None = None) -> None:
        character = self._text[start]
        plain = character.isprintable() and not character.isspace()
        shown = f"`{character}`" if plain else f"U+{ord(character):04X}"
        span = Span(self._source, start, start + 1)
        self._diagnostics.error("E0104", span, help=advice, fix=fix, character=shown)

    def _advice(self, start: int) -> str | None:
        if self._text[start] in "+*":
            sign = self._text[start] == "+" and self._text[:start].rstrip(" ")[-1:] in (
                "=",
                "[",
                ",",
                ":",
                "(",
                ".",
            )
            return "leave the `+` out" if sign else "values are not computed: write the result"
        return _ADVICE.get(self._text[start])

    def _end_of_line(self, start: int) -> int:
        end = self._text.find("\n", start)
        return len(self._text) if end < 0 else end
