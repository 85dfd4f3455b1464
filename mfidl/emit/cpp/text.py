"""F6. Pieces of C++ text that templates place: documents, attributes, literals, includes."""

from collections.abc import Iterable

WIDTH = 110


def doc(text: str, indent: int = 0) -> str:
    """A doc comment, whose too long lines are wrapped, with a line feed behind each; empty without a text."""
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
    return "".join(f"{line}\n" for line in written)


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


def raw(text: str) -> str:
    """A literal of several lines, as they are."""
    mark = "mf"
    while f'){mark}"' in text:
        mark += "_"
    return f'R"{mark}({text}){mark}"'


def own_lines(descriptor: str) -> str:
    """The lines of a service or topic, without those of the types that it reaches."""
    return descriptor.partition("\ntype ")[0].rstrip("\n") + "\n"


_ESCAPES = {0x22: '\\"', 0x5C: "\\\\", 0x0A: "\\n", 0x09: "\\t", 0x0D: "\\r"}


def _escape(byte: int) -> str:
    # Octal escapes end after three digits; hexadecimal ones would swallow what follows.
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def includes(headers: Iterable[str]) -> str:
    """Include lines: the standard library's, a blank line, ours; sorted, each once."""
    wanted = sorted(set(headers))
    groups = [[each for each in wanted if each[0] == opening] for opening in '<"']
    lines: list[str] = []
    for group in groups:
        if group and lines:
            lines.append("")
        lines += [f"#include {header}" for header in group]
    return "\n".join(lines)
