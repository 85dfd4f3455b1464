"""F6. Line breaking as the formatter of the tree would do it, for the few constructs that can get long."""

from collections.abc import Sequence

WIDTH = 110


def bracket(before: str, items: Sequence[str], after: str, indent: int = 0, room: int = 0) -> str:
    """`before` + items + `after`: before ends with the opening bracket, after begins with the closing one.

    One line if it fits; else the items on a line of their own; else one item a line, with a trailing comma.
    The first line is not indented: the template has done that. An `after` that begins with a comma
    marks a tuple of one element; `room` is what follows on the last line.
    """
    pad = " " * indent
    flat = ", ".join(items)
    if indent + len(before) + len(flat) + len(after) + room <= WIDTH or not items:
        return f"{before}{flat}{after}"
    after = after.removeprefix(",")
    called = before[-2:-1] == "]" or f"_{before[-2:-1]}".isidentifier()  # else it is a list or tuple
    slack = 0 if indent else room
    if called and indent + 4 + len(flat) + slack <= WIDTH and "\n" not in flat:
        return f"{before}\n{pad}    {flat}\n{pad}{after}"
    lines = (f"{pad}    {unfolded(each, indent + 4)},\n" for each in items)
    return f"{before}\n{''.join(lines)}{pad}{after}"


def unfolded(expression: str, indent: int, room: int = 1) -> str:
    """An expression that ends in a bracket, on several lines if it and `room` more do not fit on one."""
    if indent + len(expression) + room <= WIDTH or "\n" in expression or expression[-1:] not in (")", "]"):
        return expression
    pieces = _top_level(expression)
    if pieces is None:
        return expression
    before, inside, separator = pieces
    if separator == ",":
        one = inside[-1].endswith(",")  # a tuple of one element
        inside[-1] = inside[-1].removesuffix(",")
        return bracket(before, inside, f",{expression[-1]}" if one else expression[-1], indent, room)
    pad = " " * indent
    lines = "".join(f"{pad}    {unfolded(each, indent + 4, 0)}\n" for each in inside)
    return f"{before}\n{lines}{pad}{expression[-1]}"


def conditions(before: str, parts: Sequence[str], indent: int) -> str:
    """`before` + the parts joined by `and`: one line if it fits, else one part a line."""
    flat = before + " and ".join(parts)
    if indent + len(flat) <= WIDTH:
        return flat
    pad = " " * indent
    return f"{before}(\n{pad}    " + f"\n{pad}    and ".join(parts) + f"\n{pad})"


def joined_text(before: str, parts: Sequence[str], indent: int) -> str:
    """`before` + a formatted string: one line if it fits, else as many parts of it a line as fit."""
    flat = f'{before}f"{"".join(parts)}"'
    if indent + len(flat) <= WIDTH:
        return flat
    pad, lines = " " * indent, [""]
    for each in parts:
        if lines[-1] and indent + len('    f""') + len(lines[-1]) + len(each) > WIDTH:
            lines.append("")
        lines[-1] += each
    return f"{before}(\n" + "".join(f'{pad}    f"{each}"\n' for each in lines) + f"{pad})"


def conditional(before: str, value: str, condition: str, other: str, indent: int) -> str:
    """`before` + `value if condition else other`."""
    flat = f"{value} if {condition} else {other}"
    if indent + len(before) + len(flat) <= WIDTH:
        return before + flat
    pad = " " * (indent + 4)
    if len(pad) + len(flat) > WIDTH:
        flat = f"{unfolded(value, indent + 4, 0)}\n{pad}if {condition}\n{pad}else {other}"
    return f"{before}(\n{pad}{flat}\n{' ' * indent})"


def one_of(before: str, alternatives: Sequence[str]) -> str:
    """`before` + the types of a union."""
    flat = " | ".join(alternatives)
    if len(before) + len(flat) <= WIDTH:
        return f"{before}{flat}"
    inside = flat if len(flat) + 4 <= WIDTH else "\n    | ".join(alternatives)
    return f"{before}(\n    {inside}\n)"


def _top_level(expression: str) -> tuple[str, list[str], str] | None:
    """The text before the outermost bracket, and inside: arguments, or the clauses of a comprehension."""
    opening = min((at for at in (expression.find("("), expression.find("[")) if at >= 0), default=-1)
    if opening < 0:
        return None
    body, depth, cuts, clauses = expression[opening + 1 : -1], 0, [0], [0]
    for at, character in enumerate(body):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0:
            return None
        if depth == 0 and character == "," and body[at + 1 : at + 2] == " ":
            cuts.append(at + 2)
        if depth == 0 and body.startswith(" for ", at):
            clauses.append(at + 1)
    if len(clauses) > 1:
        ends = [at - 1 for at in clauses[1:]] + [len(body)]
        return expression[: opening + 1], [body[a:b] for a, b in zip(clauses, ends, strict=True)], " "
    ends = [at - 2 for at in cuts[1:]] + [len(body)]
    return expression[: opening + 1], [body[a:b] for a, b in zip(cuts, ends, strict=True)], ","


def docstring(text: str, indent: int) -> str:
    """The lines of a doc comment as a docstring, indented; "" for none. Too long lines are wrapped."""
    if not text.strip():
        return ""
    pad = " " * indent
    safe = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    opening = '""" ' if safe.startswith('"') else '"""'
    closing = ' """' if safe.endswith('"') else '"""'
    if "\n" not in safe and indent + len(opening) + len(safe) + len(closing) <= WIDTH:
        return f"{pad}{opening}{safe}{closing}\n"
    width = WIDTH - indent - (3 if "\n" in safe else 6)  # the formatter closes a single line where it ends
    first, *rest = safe.expandtabs().split("\n")
    lines = [part for line in [first, *_dedented(rest)] for part in _wrapped(line.rstrip(), width)]
    body = "\n".join([lines[0], *(f"{pad}{line}".rstrip() for line in lines[1:])])
    if len(lines) == 1:  # one word without end
        return f"{pad}{opening}{body}{closing}\n"
    return f'{pad}{opening}{body}\n{pad}"""\n'


def _dedented(lines: list[str]) -> list[str]:
    common = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[common:] for line in lines]


def _wrapped(line: str, width: int) -> list[str]:
    """At blanks; what follows is indented as the line is, so that lists stay lists."""
    if len(line) <= width:
        return [line]
    from textwrap import wrap

    lead = line[: len(line) - len(line.lstrip())]
    return wrap(line, width, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False)


def text_lines(text: str) -> str:
    """The lines of a text as they stand between three quotes, but for the last line feed."""
    plain = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"').rstrip("\n")
    if plain.replace("\n", "").isprintable():
        return plain
    return "".join(map(_escaped, plain))


def _escaped(character: str) -> str:
    if character == "\n" or character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
