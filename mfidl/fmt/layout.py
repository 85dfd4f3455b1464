"""The style: tokens to a document, by recursive descent over the brackets of a file that parses.

A comment is always printed before the token that follows it. Those on the line of what is before them
(`_trailing`) are printed before the next place to break; those that begin a line, behind it.
"""

from collections.abc import Callable

from mfidl.fmt.document import Doc, Group, IfBroken, Indent, Join, Line, Note, Text
from mfidl.fmt.outline import behind_bracket, declares_type
from mfidl.fmt.trivia import Tok
from mfidl.syntax import token_types as tt

_NO_SPACE_BEFORE = frozenset(
    (
        tt.COMMA,
        tt.SEMICOLON,
        tt.COLON,
        tt.QUESTION,
        tt.RPAREN,
        tt.RBRACKET,
        tt.GREATER,
        tt.DOT,
        tt.DOTS,
        tt.LESS,
    )
)
_NO_SPACE_AFTER = frozenset((tt.LPAREN, tt.LBRACKET, tt.LESS, tt.DOT, tt.DOTS, tt.AT, tt.MINUS))
_CLOSER = {tt.LPAREN: tt.RPAREN, tt.LBRACKET: tt.RBRACKET, tt.LESS: tt.GREATER, tt.OPEN_BRACE: tt.CLOSE}
_WITH_MEMBERS = frozenset((tt.ANNOTATION, tt.STRUCT, tt.ERROR, tt.UNION, tt.SERVICE))
_WITH_LIST = frozenset((tt.ENUM, tt.FLAGS, tt.OPEN))
_ELEMENT_ENDS = frozenset((tt.COMMA, tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE))
_STATEMENT_ENDS = frozenset((tt.SEMICOLON,))
_HEAD_ENDS = frozenset((tt.SEMICOLON, tt.OPEN_BRACE))


class Layout:
    """One per file. Reads the tokens from the left; each method continues after what it formatted."""

    def __init__(self, text: str, tokens: list[Tok]) -> None:
        self._source = text
        self._tokens = tokens
        self._at = 0
        self._last: int | None = None  # type of the token before, None where something begins

    def file(self) -> Doc:
        return Join(self._statements(tt.EOF, self._declaration, many=True))

    # Tokens and comments ------------------------------------------------------------------------------------

    def _next(self) -> Tok:
        return self._tokens[self._at]

    def _space(self, ahead: int) -> bool:
        if self._last is None or self._last in _NO_SPACE_AFTER:
            return False
        if ahead == tt.LPAREN:
            return self._last == tt.ARROW
        return ahead not in _NO_SPACE_BEFORE

    def _token(self, out: list[Doc], *, deeper: bool = True, spaced: bool = False) -> None:
        """The next token, behind the comments that stand before it. `spaced`: with a space in any case."""
        tok = self._next()
        for comment in tok.comments:
            out.append(Note(comment, deeper, self._space(tt.NAME)))
            self._last = tt.NAME
        space = " " if spaced or self._space(tok.type) else ""
        out.append(Text(space + tok.text, deeper))
        self._last = tok.type
        self._at += 1

    def _trailing(self, out: list[Doc]) -> None:
        """The comments on the line of what was just formatted."""
        comments = self._next().comments
        count = 0
        while count < len(comments) and comments[count].breaks == 0 and not comments[count].is_doc:
            count += 1
        if count and comments[count - 1].ends_line:
            out.extend(Note(each) for each in comments[:count])
            del comments[:count]

    def _leading(self, out: list[Doc], *, blanks: bool) -> None:
        """The comments before a statement, member or element, up to the place where that begins."""
        tok = self._next()
        for index, comment in enumerate(tok.comments):
            if index and comment.breaks:
                out.append(Line(hard=True, blank=blanks and comment.breaks > 1))
            out.append(Note(comment))
            if not comment.ends_line:
                out.append(Text(" "))
        if tok.comments and tok.breaks:
            out.append(Line(hard=True, blank=blanks and tok.breaks > 1))
        tok.comments = []
        self._last = None

    # Bodies and statements ----------------------------------------------------------------------------------

    def _statements(self, stop: int, parse: Callable[[], Doc], *, many: bool) -> list[Doc]:
        """Everything up to the token `stop`; `many`: one a line. One blank line between two is kept."""
        out: list[Doc] = []
        if stop != tt.EOF:
            self._trailing(out)
        first = True
        while self._next().type != stop:
            tok = self._next()
            breaks = tok.comments[0].breaks if tok.comments else tok.breaks
            out.append(Line(hard=many, blank=breaks > 1 and not first))
            self._leading(out, blanks=True)
            out.append(parse())
            self._trailing(out)
            first = False
        self._closing_comments(out, first)
        return out

    def _closing_comments(self, out: list[Doc], first: bool) -> None:
        for comment in self._next().comments:
            if comment.breaks:
                out.append(Line(hard=True, blank=comment.breaks > 1 and not first))
            out.append(Note(comment))
            first = False
        self._next().comments = []

    def _declaration(self) -> Doc:
        return self._declared(self._annotation_lines())

    def _declared(self, lines: list[list[Doc]]) -> Doc:
        keyword = self._next().type
        head = lines.pop()
        if keyword in _WITH_MEMBERS or keyword in _WITH_LIST:
            self._run(head, _HEAD_ENDS)
            if self._next().type == tt.OPEN_BRACE:
                members = {tt.SERVICE: self._method}.get(keyword, self._field)
                parse = self._enum_member if keyword in _WITH_LIST else members
                return _join_lines([*lines, head], self._body(parse))
        elif keyword == tt.TOPIC:
            self._run(head, frozenset((tt.SEMICOLON, tt.COLON)))
            self._token(head, spaced=True)
        return self._ended(lines, head)

    def _field(self) -> Doc:
        lines = self._annotation_lines()
        if declares_type(self._tokens, self._at):
            return self._declared(lines)
        return self._ended(lines, lines.pop())

    def _ended(self, lines: list[list[Doc]], last: list[Doc]) -> Doc:
        """The rest up to the semicolon, and it."""
        self._run(last, _STATEMENT_ENDS)
        self._token(last, deeper=self._last is not None)
        return _join_lines([*lines, last])

    def _method(self) -> Doc:
        lines = self._annotation_lines()
        if declares_type(self._tokens, self._at):
            return self._declared(lines)
        last = lines.pop()
        if self._next().type == tt.SEMICOLON:  # one that ends nothing, kept for its doc comment
            return self._ended(lines, last)
        self._token(last, deeper=False)  # the name, which may be `throws`
        self._run(last, frozenset((tt.SEMICOLON, tt.ARROW, tt.THROWS)))
        if self._next().type == tt.ARROW:
            self._token(last)
            self._token_or_bracket(last)  # a type may be called `throws` too
            while self._next().type == tt.DOT:
                self._token(last)
                self._token(last)
            self._run(last, frozenset((tt.SEMICOLON, tt.THROWS)))
        if self._next().type == tt.THROWS:
            self._throws(last)
        return self._ended(lines, last)

    def _throws(self, out: list[Doc]) -> None:
        self._trailing(out)
        parts: list[Doc] = [Line()]
        self._leading(parts, blanks=False)
        clause: list[Doc] = []
        self._token(clause, deeper=False)
        rest: list[Doc] = []
        while self._next().type != tt.SEMICOLON:
            self._run(rest, frozenset((tt.SEMICOLON, tt.COMMA)))
            if self._next().type == tt.COMMA:
                self._token(rest)
                self._trailing(rest)
                rest.append(Line())
                self._last = None
        clause.append(Indent(Join(rest)))
        out.append(Group(Indent(Join([*parts, Group(Join(clause))]))))

    def _enum_member(self) -> Doc:
        lines = self._annotation_lines()
        self._run(lines[-1], _ELEMENT_ENDS)
        comma: list[Doc] = []
        self._comma(comma)
        return Join([_join_lines(lines), *comma])

    def _comma(self, out: list[Doc]) -> None:
        """A comma between two elements; the last one has one if each element has its own line."""
        if self._next().type == tt.COMMA:
            self._token(out)
        else:
            out.append(IfBroken(","))

    def _body(self, parse: Callable[[], Doc]) -> Doc:
        """On one line if the author wrote it so and it fits."""
        opening = self._next()
        closing = self._tokens[behind_bracket(self._tokens, self._at) - 1]
        inside = self._source[opening.end : closing.start]
        out: list[Doc] = []
        self._token(out, spaced=True)
        if self._next() is closing and not closing.comments:
            closing.breaks = 0
            self._token(out, spaced=True)
            return Join(out)
        many = "\n" in inside or "\r" in inside
        out.append(Indent(Join(self._statements(tt.CLOSE, parse, many=many))))
        out.append(Line(hard=many))
        self._last = None
        self._token(out, deeper=False)
        return Group(Join(out))

    def _annotation_lines(self) -> list[list[Doc]]:
        """The annotations before a statement. The author's line breaks between them stay; the last line goes
        on with the statement.
        """
        lines: list[list[Doc]] = [[]]
        together: list[Doc] = []
        while self._next().type == tt.AT:
            self._last = None
            together += [Line()] if together else []
            together.append(self._annotation())
            self._trailing(together)
            self._last = None
            if self._next().broken_before:
                lines[-1].append(Group(Join(together)))
                together = []
                lines.append([])
                self._leading(lines[-1], blanks=False)
        if together:
            lines[-1] += [Group(Join(together)), Line()]
        return lines

    # Inside of a statement ----------------------------------------------------------------------------------

    def _run(self, out: list[Doc], ends: frozenset[int]) -> None:
        """Tokens and brackets up to one of `ends`."""
        begins = self._last is None
        while self._next().type not in ends:
            if self._next().type != tt.AT:
                self._token_or_bracket(out, deeper=self._last is not None)
                begins = False
            elif begins:
                out.append(self._annotation())
            else:
                self._trailing(out)
                self._last = None
                out.append(Group(Indent(Join([Line(), self._annotation()]))))

    def _token_or_bracket(self, out: list[Doc], *, deeper: bool = True) -> None:
        if self._next().type in _CLOSER:
            out.append(self._bracket(deeper))
        else:
            self._token(out, deeper=deeper)

    def _annotation(self) -> Doc:
        out: list[Doc] = []
        self._token(out, deeper=False)
        self._token(out)
        while self._next().type == tt.DOT:
            self._token(out)
            self._token(out)
        if self._next().type == tt.LPAREN:
            out.append(self._bracket(True))
        return Join(out)

    def _bracket(self, deeper: bool) -> Doc:
        """A list in brackets: on one line, or one element a line, or, for short literals, lines filled."""
        opening = self._next()
        end = behind_bracket(self._tokens, self._at)
        inside = self._tokens[self._at + 1 : end]
        may_break = opening.type != tt.LESS or any(each.comments and each.broken_before for each in inside)
        by_author = opening.type in (tt.LBRACKET, tt.OPEN_BRACE) and inside[0].broken_before
        edge = " " if opening.type == tt.OPEN_BRACE else ""
        out: list[Doc] = []
        self._token(out, deeper=deeper)
        if len(inside) == 1 and not inside[0].comments:
            self._token(out, spaced=bool(edge))
            return Join(out)
        filled = opening.type == tt.LBRACKET and _is_plain(inside)
        inner = self._elements(edge, by_author, filled, opening.type != tt.LESS)
        out += [Indent(Join(inner)), Line(edge)]
        self._last = None
        self._token(out, deeper=False)
        return Group(Join(out)) if may_break else Join(_flat(out))

    def _elements(self, edge: str, hard: bool, filled: bool, comma: bool) -> list[Doc]:
        closing = {tt.RPAREN, tt.RBRACKET, tt.GREATER, tt.CLOSE}
        inner: list[Doc] = []
        self._trailing(inner)
        first = True
        while self._next().type not in closing:
            element: list[Doc] = [Line(edge if first else " ", hard=hard and first)]
            self._leading(element, blanks=False)
            self._run(element, _ELEMENT_ENDS)
            inner.append(Group(Join(element)) if filled and not first else Join(element))
            if comma or self._next().type == tt.COMMA:
                self._comma(inner)
            self._trailing(inner)
            first = False
        self._closing_comments(inner, True)
        return inner


def _is_plain(inside: list[Tok]) -> bool:
    """Whether a list has nothing but short literals: no brackets, names with dots, or comments."""
    plain = (tt.COMMA, tt.INTEGER, tt.HEX, tt.FLOAT, tt.DURATION, tt.MINUS, tt.NAME, tt.STRING)
    short = all(each.type in plain and len(each.text) <= 24 for each in inside[:-1])
    return short and not any(each.comments for each in inside)


def _flat(parts: list[Doc]) -> list[Doc]:
    """The same without places to break."""
    made: list[Doc] = []
    for part in parts:
        match part:
            case Line(flat=flat):
                made.append(Text(flat))
            case Join(parts=inner):
                made += _flat(inner)
            case Indent(body=body) | Group(body=body):
                made += _flat([body])
            case IfBroken():
                pass
            case _:
                made.append(part)
    return made


def _join_lines(lines: list[list[Doc]], body: Doc | None = None) -> Doc:
    """Each a group of its own, on a line of its own."""
    made: list[Doc] = []
    for line in lines:
        made += [Line(hard=True)] if made else []
        made.append(Group(Join(line)))
    return Join(made if body is None else [*made, body])
