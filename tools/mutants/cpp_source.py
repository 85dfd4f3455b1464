"""The mutants of a C++ file, found in its tokens.

Instead of a syntax tree it uses the tree's format: clang-format puts a space at both sides of each binary
operator, and at most at one side of the same characters in other roles (a template's bracket, a reference). A
candidate that makes no valid program after all is no mutant: it fails to compile when it is tried.

Left alone are times (20ms, std::chrono::seconds(1)) and constants that are only a number from 16 on
(`kMost = 64`, `16 << 20`): a test that repeats them would only notice that they were changed.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tools.mutants.mutant import Mutant, make


class Token(NamedTuple):
    kind: str  # word, number, text, sign
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|\A)[ ]*\#(?:[^\n\\]|\\.)*)
      | (?P<text>(?:u8|[uUL])?R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"
               | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)+')
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|<=>|->\*|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_BINARY = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "&&": ("||",),
    "||": ("&&",),
    "+": ("-",),
    "-": ("+",),
    "+=": ("-=",),
    "-=": ("+=",),
}
_WORDS = {"min": "max", "max": "min", "true": "false", "false": "true"}
_LIMIT = re.compile(r"[\w: ]*\bk[A-Z]\w* = (?:[\w']+;|(?P<product>[^;]* (?:<<|\*) [\w']+);)")
_TIMES = {"minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"}
_ASSIGNS = {"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>="}
_DECIDED = {"==", "!=", "<", "<=", ">", ">=", "!"}
_OPEN = {"(": ")", "[": "]", "{": "}"}
_NO_STATEMENT = re.compile(
    "return|if|else|for|while|do|switch|case|default|goto|using|namespace|class|struct|enum|union|template|typedef|"
    "static|constexpr|const|auto|public|private|protected|friend|virtual|explicit|operator|extern|inline|"
    "static_assert|try|catch|throw|co_return|co_yield|new|sizeof|decltype|noexcept|override|requires"
)


def tokens(text: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup if match.lastgroup != "raw" else "text"
        assert kind is not None
        if kind != "skip":
            found.append(Token(kind, match[0], match.start(), match.end()))
    return found


def mutants(path: str, data: bytes) -> list[Mutant]:
    """All mutants of the file, in the order of their places; some of them may not compile."""
    text = data.decode("latin-1")  # one character a byte
    found = tokens(text)
    return sorted({make(path, data, *edit) for edit in _edits(text, found)})


_Edit = tuple[int, int, str]


def _edits(text: str, found: list[Token]) -> Iterator[_Edit]:
    for at, token in enumerate(found):
        before = found[at - 1] if at else None
        if token.kind == "number":
            if at >= 2 and found[at - 1].text == "(" and found[at - 2].text in _TIMES:
                continue
            yield from _number(token, _LIMIT.match(text, text.rfind("\n", 0, token.start) + 1))
        elif token.kind == "word":
            yield from _word(text, found, at)
        elif token.kind == "sign":
            yield from _sign(text, found, at)
        if token.kind in ("word", "sign") and _begins(before):
            yield from _removed(found, at)


def _number(token: Token, limit: re.Match[str] | None) -> Iterator[_Edit]:
    """A whole number becomes its neighbour."""
    match = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlLzZ]*)", token.text.replace("'", ""))
    if match is None:
        return
    value = int(match[1], 16 if match[1][1:2] in ("x", "X") else 10)
    if limit is not None and (value >= 16 or limit["product"]):
        return
    yield token.start, token.end, f"{value + 1}{match[2]}"
    if value > 1:
        yield token.start, token.end, f"{value - 1}{match[2]}"


def _word(text: str, found: list[Token], at: int) -> Iterator[_Edit]:
    token = found[at]
    if token.text in ("min", "max"):
        if at >= 2 and found[at - 2].text in ("std", "ranges") and found[at + 1].text in ("(", "<"):
            yield token.start, token.end, _WORDS[token.text]
    elif token.text in _WORDS:
        yield token.start, token.end, _WORDS[token.text]
    elif token.text in ("continue", "break", "return") and found[at + 1].text == ";":
        yield token.start, token.end, ""
    elif token.text == "if":
        yield from _negated(text, found, at + 1)


def _sign(text: str, found: list[Token], at: int) -> Iterator[_Edit]:
    token = found[at]
    if (
        token.text in _BINARY
        and text[token.start - 1].isspace()
        and text[token.end : token.end + 1].isspace()
    ):
        for now in _BINARY[token.text]:
            yield token.start, token.end, now
    elif token.text == "!" and found[at - 1].text != "operator":
        yield token.start, token.end, ""
    elif token.text in ("++", "--") and found[at - 1].text != "operator":
        yield token.start, token.end, "--" if token.text == "++" else "++"


def _closing(found: list[Token], at: int) -> int:
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for place in range(at, len(found)):
        if found[place].text in _OPEN:
            depth += 1
        elif found[place].text in _OPEN.values():
            depth -= 1
            if not depth:
                return place
    return len(found) - 1


def _negated(text: str, found: list[Token], at: int) -> Iterator[_Edit]:
    """Negates the condition of an `if`, except for declarations and for what the other rules negate
    already."""
    if found[at].text != "(":
        return
    first, last = at + 1, _closing(found, at)
    outer: set[str] = set()  # the signs outside of inner brackets
    place = first
    while place < last:
        if found[place].text == ";":
            first, outer = place + 1, set()
        elif found[place].text in _OPEN:
            place = _closing(found, place)
        else:
            outer.add(found[place].text)
        place += 1
    joined = bool(outer & {"&&", "||"})
    if first < last and "=" not in outer and (joined or not outer & _DECIDED):
        start, end = found[first].start, found[last - 1].end
        yield start, end, f"!({text[start:end]})"


def _begins(before: Token | None) -> bool:
    return before is not None and before.text in (";", "{", "}", ")", "else", ":")


def _removed(found: list[Token], at: int) -> Iterator[_Edit]:
    """Removes a statement that is a call, an assignment or a step: `a.b(c);`, `a->b[c] = d;`, `++a;`."""
    place = at
    while found[place].text in ("++", "--", "*", "(", "co_await"):
        if found[place].text == "(":
            place = _closing(found, place) + 1
            break
        place += 1
    else:
        if found[place].kind != "word" or _NO_STATEMENT.fullmatch(found[place].text):
            return
        place += 1
    while place + 1 < len(found):
        text = found[place].text
        if text in ("::", ".", "->"):
            place += 2
        elif text in ("(", "["):
            place = _closing(found, place) + 1
        elif text in ("++", "--"):
            place += 1
        else:
            break
    if place >= len(found):
        return
    if found[place].text in _ASSIGNS:
        while place < len(found) and found[place].text != ";":
            place = _closing(found, place) + 1 if found[place].text in _OPEN else place + 1
    if place < len(found) and found[place].text == ";" and place > at + 1:
        yield found[at].start, found[place].start, ""
