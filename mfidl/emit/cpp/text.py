"""F6. Generated C++ with the line breaks of the tree's .clang-format."""

from collections.abc import Iterable, Sequence

WIDTH = 110


def doc(text: str, indent: int = 0) -> tuple[str, ...]:
    """A doc comment, one line each; too long lines are wrapped."""
    lines = text.splitlines() if text else []
    prefix = " " * indent + "/// "
    room = WIDTH - len(prefix)
    written: list[str] = []
    while lines:
        line = lines.pop(0)
        space = line.rfind(" ", 0, room + 1)
        if len(line) > room and space > 0:
            rest = line[space + 1 :]
            follows = bool(lines) and bool(lines[0].strip())
            lines[:1] = [f"{rest} {lines[0]}"] if follows else [rest, *lines[:1]]
            line = line[:space]
        line = (prefix + line).rstrip()
        # A backslash at the end would make the next line of code a comment; `??/` was one as a trigraph.
        written.append(f"{line}." if line.endswith(("\\", "??/")) else line)
    return tuple(written)


def deprecation(reason: str | None, before: str = "") -> str:
    """The attribute, with the separator to its neighbour; empty if it is not deprecated."""
    if reason is None:
        return ""
    # No numeric escapes: clang refuses them in the text of an attribute.
    shown = "".join(each if each.isprintable() else " " for each in reason)
    shown = shown.replace("\\", "\\\\").replace('"', '\\"').replace("??", "?\\?")
    attribute = f'[[deprecated("{shown}")]]' if reason else "[[deprecated]]"
    return f"{before}{attribute}" if before else f"{attribute} "


def quoted(text: str) -> str:
    """A string literal of the text's UTF-8."""
    return '"' + "".join(_escape(byte) for byte in text.encode()).replace("??", "?\\?") + '"'  # no trigraphs


def raw_text(name: str, text: str) -> str:
    """A constant of several lines, as they are."""
    if not text:
        return f"constexpr std::string_view {name}{{}};"
    return f"constexpr std::string_view {name} =\n    {raw(text)};"


def raw(text: str) -> str:
    """A literal of several lines, as they are."""
    mark = "mf"
    while f'){mark}"' in text:
        mark += "_"
    return f'R"{mark}({text}){mark}"'


_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r"}


def _escape(byte: int) -> str:
    # Octal escapes end after three digits; hexadecimal ones would swallow what follows.
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def fill(head: str, items: Sequence[str], tail: str, indent: int = 0) -> str:
    """`head` + items with commas + `tail`: on one line, or packed into lines beside or below the head."""
    start = " " * indent + head
    whole = start + ", ".join(items) + tail
    if len(whole) <= WIDTH or not items:
        return whole
    last = len(items) - 1
    needed = max(len(item) + (len(tail) if i == last else 1) for i, item in enumerate(items))
    below = start + "\n" + _pack("", " " * (indent + 4), items, tail)
    if len(start) + needed > WIDTH:
        return below
    beside = _pack(start, " " * len(start), items, tail)
    # clang-format weighs a break after the parenthesis like this, as far as its output shows.
    return below if below.count("\n") + 3 <= beside.count("\n") else beside


def _pack(line: str, margin: str, items: Sequence[str], tail: str) -> str:
    lines = []
    line = line or margin
    empty = True
    for i, item in enumerate(items):
        piece = item + (tail if i == len(items) - 1 else ",")
        if not empty and len(line) + 1 + len(piece) > WIDTH:
            lines.append(line)
            line, empty = margin, True
        line += piece if empty else " " + piece
        empty = False
    return "\n".join([*lines, line])


def comparisons(kind: str, name: str, ordering: str) -> tuple[str, ...]:
    """The friends of a class: `default` ones, `declared` ones, only `equality`, or `no` comparison; and its
    text, which those of equality alone do `without`."""
    left, right = (f"const {name}& left", f"const {name}& right")
    if kind in ("default", "equality", "without"):
        left = right = f"const {name}&"
    tail = ");" if kind == "declared" else ") = default;"
    equal = fill("friend bool operator==(", [left, right], tail, indent=2)
    order = fill(f"friend {ordering} operator<=>(", [left, right], tail, indent=2)
    text = fill("friend void print_to(", ["mf::Printer& printer", f"const {name}& value"], ");", indent=2)
    return {"without": (equal,), "equality": (equal, text), "no": (text,)}.get(kind, (equal, order, text))


def initialised(head: str, items: Sequence[str], indent: int = 0, middle: bool = True) -> str:
    """`head{items};` on one line, or (`middle`) all items on the next, or packed or one a line."""
    margin = " " * indent
    whole = ", ".join(items)
    if len(margin + head) + len(whole) + 3 <= WIDTH:
        return f"{margin}{head}{{{whole}}};"
    if middle and indent + 4 + len(whole) + 2 <= WIDTH:
        return f"{margin}{head}{{\n{margin}    {whole}}};"
    if not middle:
        return f"{margin}{head}{{\n{_pack('', margin + '    ', items, ',')}\n{margin}}};"
    return "\n".join([f"{margin}{head}{{", *(f"{margin}    {item}," for item in items), margin + "};"])


def type_info(qualified: str, tier: str, name: str) -> str:
    """What the codecs know of a declared type: the tier that the schema planned, and the name in paths."""
    known = [f".tier = Tier::{tier}", f'.name = "{name}"']
    return initialised(f"inline constexpr TypeInfo kTypeInfo<{qualified}>", known)


def conjunction(head: str, terms: Sequence[str], tail: str, indent: int = 0, operator: str = "&&") -> str:
    """`head` + terms with && + `tail`, packed into lines that begin below the first term."""
    between = f" {operator} "
    if len(" " * indent + head + between.join(terms) + tail) <= WIDTH:
        return " " * indent + head + between.join(terms) + tail
    lines, margin = [" " * indent + head + terms[0]], " " * (indent + len(head))
    for i, term in enumerate(terms[1:], 2):
        end = len(tail) if i == len(terms) else len(between) - 1
        if len(lines[-1]) + len(between) + len(term) + end <= WIDTH:
            lines[-1] += between + term
        else:
            lines[-1] += between.rstrip()
            lines.append(margin + term)
    return "\n".join(lines) + tail


def block(head: str, body: Sequence[str], indent: int = 2) -> str:
    """A function inside a class, on one line where that fits. `body` is unindented."""
    margin = " " * indent
    whole = margin + head + (" { " + body[0] + " }" if body else " {}")
    if len(body) <= 1 and "\n" not in whole and len(whole) <= WIDTH:
        return whole
    lines = [margin + head + " {", *(f"{margin}  {line}" for line in body), margin + "}"]
    return "\n".join(lines)


def head(start: str, parameters: Sequence[str], end: str) -> str:
    """Of a function that is defined; without the brace."""
    return fill(start, parameters, end + " {").removesuffix(" {")


def definition(head: str, body: Sequence[str]) -> str:
    """A function outside of a class. `body` is unindented."""
    if not body:
        return f"{head} {{}}"
    return "\n".join([head + " {", *(f"  {line}" for line in body), "}"])


def argument(type_: str, name: str, used: bool) -> str:
    """A parameter; the name of one that is not used is a comment."""
    return f"{type_} {name}" if used else f"{type_} /*{name}*/"


def includes(headers: Iterable[str]) -> tuple[str, ...]:
    """Include lines: the standard library's, a blank line, ours; sorted, each once."""
    wanted = sorted(set(headers))
    groups = [[each for each in wanted if each[0] == opening] for opening in '<"']
    lines: list[str] = []
    for group in groups:
        if group and lines:
            lines.append("")
        lines += [f"#include {header}" for header in group]
    return tuple(lines)
