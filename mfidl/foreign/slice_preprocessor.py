"""F6. The preprocessor of Slice files, which is that of C: it takes its lines out of the words of a file,
what their conditions exclude, and replaces macros. Comments and texts are words already, so that nothing
within them is a line of the preprocessor.

Each file is read by itself: macros that an included file defines are known behind its `#include`, but a file
does not see those of the files that include it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from mfidl.foreign.scan import DEPTH_LIMIT, Refused, Word, check_depth
from mfidl.foreign.slice_conditions import holds
from mfidl.source import Span
from mfidl.syntax._antlr.SliceLexer import SliceLexer

COMMENTS = frozenset((SliceLexer.LINE_COMMENT, SliceLexer.BLOCK_COMMENT))
_ICE = "30800"  # as Ice 3.8 defines it
_SPLICE = re.compile(r"\\\r?\n")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_EXPANSION_LIMIT = 100_000  # words that macros put in


@dataclass(frozen=True, slots=True)
class Macro:
    """`parameters` is None if it is used without brackets."""

    body: tuple[Word, ...]
    parameters: tuple[str, ...] | None = None
    text: str = ""


Macros = dict[str, Macro]


@dataclass(slots=True)
class Preprocessed:
    """The words and comments that are left, what is included, and the macros that are known at the end."""

    words: list[Word]
    includes: list[tuple[str, Span]] = field(default_factory=list)
    macros: Macros = field(default_factory=dict)


def preprocess(words: list[Word], included: Callable[[str], Macros]) -> Preprocessed:
    """`included` gives the macros of a file that is included."""
    return _Preprocessor(words, included).read()


@dataclass(slots=True)
class _Condition:
    """`taken`: a branch of it was read; `open`: its present branch is read."""

    place: Word
    open: bool
    taken: bool
    has_else: bool = False


class _Preprocessor:
    def __init__(self, words: list[Word], included: Callable[[str], Macros]) -> None:
        self._words = words
        self._included = included
        self._made = Preprocessed([])
        self._made.macros |= {name: Macro((), None, _ICE) for name in ("ICE_VERSION", "__ICE_VERSION__")}
        self._conditions: list[_Condition] = []
        self._expanded = 0

    def read(self) -> Preprocessed:
        at, text = 0, self._words[0].span.file.text
        run: list[Word] = []
        while at < len(self._words) - 1:
            word = self._words[at]
            if word.type == SliceLexer.HASH and self._begins_line(at, text):
                self._keep(run)
                run = []
                end = at + 1
                while end < len(self._words) - 1 and not self._has_line_end(end, text):
                    end += 1
                line = [each for each in self._words[at + 1 : end] if each.type not in COMMENTS]
                self._directive(word, line)
                at = end
                continue
            if self._is_open():
                run.append(word)
            at += 1
        self._keep(run)
        if self._conditions:
            raise Refused(self._conditions[-1].place.span, "this condition has no `#endif`")
        self._made.words.append(self._words[-1])
        return self._made

    def _is_open(self) -> bool:
        return all(each.open for each in self._conditions)

    def _has_line_end(self, at: int, text: str) -> bool:
        """Whether a line ends between a word and the one before it."""
        before = self._words[at - 1].end if at else 0
        return "\n" in _SPLICE.sub("", text[before : self._words[at].start])

    def _begins_line(self, at: int, text: str) -> bool:
        """Whether there are only comments before a word on its line."""
        while at and not self._has_line_end(at, text):
            at -= 1
            if self._words[at].type not in COMMENTS:
                return False
        return True

    # Lines -------------------------------------------------------------------------------------------------

    def _directive(self, hash_: Word, line: list[Word]) -> None:
        if not line:
            return
        word, rest = line[0], line[1:]
        span = Span(hash_.span.file, hash_.start, word.end)
        match word.text:
            case "if" | "ifdef" | "ifndef":
                self._begin(word, rest, span)
            case "elif" | "elifdef" | "elifndef" | "else" | "endif":
                if not self._conditions:
                    raise Refused(span, f"`#{word.text}` without a condition before it")
                self._go_on(word, rest, span)
            case _ if not self._is_open():
                pass
            case "define":
                self._define(rest, span)
            case "undef":
                self._made.macros.pop(self._name(rest, span), None)
            case "include":
                self._include(rest, span)
            case "error":
                said = _text(rest)
                raise Refused(span, f"`#error`: {said}" if said else "`#error`")
            case "pragma" | "line" | "warning" | "ident":
                pass
            case _ if word.type != SliceLexer.INTEGER:  # `# 1 "file"` says where text came from
                raise Refused(span, f"`#{word.text}` is no line of the preprocessor")

    def _begin(self, word: Word, rest: list[Word], span: Span) -> None:
        open_ = self._is_open() and self._holds(word.text, rest, span)
        self._conditions.append(_Condition(word, open_, open_))

    def _go_on(self, word: Word, rest: list[Word], span: Span) -> None:
        condition = self._conditions.pop()
        if word.text == "endif":
            return
        if condition.has_else:
            raise Refused(span, f"`#{word.text}` behind `#else`")
        condition.has_else = word.text == "else"
        condition.open = (
            self._is_open()
            and not condition.taken
            and (condition.has_else or self._holds(word.text.removeprefix("el"), rest, span))
        )
        condition.taken = condition.taken or condition.open
        self._conditions.append(condition)

    def _holds(self, word: str, rest: list[Word], span: Span) -> bool:
        macros = self._made.macros
        if word == "if":
            check_depth(rest)
            return holds(_text(rest), span, macros.__contains__, lambda name: macros[name].text)
        return (self._name(rest, span) in macros) == (word == "ifdef")

    def _name(self, rest: list[Word], span: Span) -> str:
        if not rest or not _NAME.fullmatch(rest[0].text):
            raise Refused(rest[0].span if rest else span, "expected the name of a macro")
        return rest[0].text

    def _define(self, rest: list[Word], span: Span) -> None:
        name, body = self._name(rest, span), rest[1:]
        parameters: tuple[str, ...] | None = None
        if body and body[0].text == "(" and body[0].start == rest[0].end:
            end = next((at for at, word in enumerate(body) if word.text == ")"), None)
            if end is None:
                raise Refused(body[0].span, "the parameters of this macro do not end")
            parameters = tuple(each.text for each in body[1:end] if each.text != ",")
            body = body[end + 1 :]
        self._made.macros[name] = Macro(tuple(body), parameters, _text(body))

    def _include(self, rest: list[Word], span: Span) -> None:
        text = rest[0].span.file.text if rest else ""
        if rest and rest[0].type == SliceLexer.STRING:
            target, end = rest[0].text[1:-1], rest[0].end
        elif (
            rest and rest[0].text == "<" and (found := re.compile(r"<([^<>\n]+)>").match(text, rest[0].start))
        ):
            target, end = found[1], found.end()
        else:
            raise Refused(span, 'expected `"file"` or `<file>` behind `#include`')
        self._made.includes.append((target, Span(span.file, rest[0].start, end)))
        self._made.macros |= self._included(target)

    # Macros ------------------------------------------------------------------------------------------------

    def _keep(self, run: list[Word]) -> None:
        used = self._made.macros.keys() & {word.text for word in run}
        self._made.words += self._replaced(run, frozenset()) if used else run

    def _replaced(self, words: list[Word], inside: frozenset[str]) -> list[Word]:
        """The words with their macros replaced. A macro is not replaced within its own text."""
        if len(inside) > DEPTH_LIMIT:
            raise Refused(words[0].span, f"nested more than {DEPTH_LIMIT} levels deep")
        made: list[Word] = []
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            macro = self._made.macros.get(word.text)
            if macro is None or word.text in inside or word.type == SliceLexer.STRING:
                made.append(word)
                continue
            body = (
                list(macro.body)
                if macro.body or not macro.text
                else [Word(SliceLexer.INTEGER, macro.text, word.span)]
            )
            if macro.parameters is not None:
                if at == len(words) or words[at].text != "(":
                    made.append(word)
                    continue
                arguments, at = self._arguments(words, at, word)
                body = self._filled(body, macro.parameters, arguments, word)
            self._expanded += len(body)
            if self._expanded > _EXPANSION_LIMIT:
                raise Refused(word.span, f"macros put in more than {_EXPANSION_LIMIT} words")
            moved = [Word(each.type, each.text, word.span) for each in body]
            made += self._replaced(moved, inside | {word.text})
        return made

    def _arguments(self, words: list[Word], at: int, macro: Word) -> tuple[list[list[Word]], int]:
        """The arguments in the brackets that begin here, and the place behind them."""
        found: list[list[Word]] = [[]]
        depth = 0
        for index in range(at, len(words)):
            word = words[index]
            depth += {"(": 1, ")": -1}.get(word.text, 0)
            if depth == 0:
                return found, index + 1
            if word.text == "," and depth == 1:
                found.append([])
            elif index > at and word.type not in COMMENTS:
                found[-1].append(word)
        raise Refused(macro.span, f"the arguments of macro `{macro.text}` do not end")

    def _filled(
        self, body: list[Word], parameters: tuple[str, ...], arguments: list[list[Word]], macro: Word
    ) -> list[Word]:
        if len(arguments) != len(parameters) and not (not parameters and arguments == [[]]):
            raise Refused(macro.span, f"macro `{macro.text}` has {len(parameters)} parameters")
        values = dict(zip(parameters, arguments, strict=False))
        made: list[Word] = []
        for word in body:
            if word.type == SliceLexer.HASH:
                raise Refused(macro.span, f"macro `{macro.text}` puts texts together, which is not read here")
            made += values.get(word.text, [word])
        return made


def _text(words: list[Word]) -> str:
    """Words as a text, with one space wherever the file separates them."""
    made, end = "", words[0].start if words else 0
    for word in words:
        made += ("" if word.start == end else " ") + word.text
        end = word.end
    return made
