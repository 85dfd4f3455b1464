"""F6. Line breaking as the formatter of the tree would do it, for the few constructs that can get long."""

from collections.abc import Sequence

WIDTH = 110


def bracket(before: str, items: Sequence[str], after: str, indent: int = 0) -> str:
    """`before` + items + `after`, where before ends with an opening and after begins with the closing bracket.

    One line if it fits; else the items on a line of their own; else one item a line, with a trailing comma. The
    first line is not indented: the template stands there already.
    """
    pad = " " * indent
    flat = ", ".join(items)
    if indent + len(before) + len(flat) + len(after) <= WIDTH or not items:
        return f"{before}{flat}{after}"
    if indent + 4 + len(flat) <= WIDTH and not flat.endswith(",") and "*" not in items:
        return f"{before}\n{pad}    {flat}\n{pad}{after}"
    return before + "\n" + "".join(f"{pad}    {each},\n" for each in items) + pad + after


def docstring(text: str, indent: int) -> str:
    """The lines of a doc comment as a docstring, indented; "" for none."""
    if not text.strip():
        return ""
    pad = " " * indent
    safe = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [line.rstrip() for line in safe.split("\n")]
    closing = ' """' if safe.endswith('"') else '"""'
    if len(lines) == 1 and indent + len(lines[0]) + 6 <= WIDTH:
        return f'{pad}"""{lines[0]}{closing}\n'
    return f'{pad}"""' + "\n".join([lines[0], *(f"{pad}{line}".rstrip() for line in lines[1:])]) + f'\n{pad}"""\n'
