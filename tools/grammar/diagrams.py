"""Writes docs/grammar/: a railroad diagram for each rule of grammar/MfidlParser.g4, and the page with all.

`make regen` runs it; a test compares what is checked in with what it would write.
"""

from pathlib import Path

from tools.grammar.g4 import Alt, Expr, Ref, Repeat, Seq, grammar_literals, grammar_rules
from tools.grammar.railroad import box_of, svg

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "grammar"

# Tokens that only serve the messages of the parser, and the end of the file.
_UNSEEN = frozenset(("BAD_NUMBER", "BAD_STRING", "EOF"))
_GROUPS = (
    ("Files and declarations", ("file", "item", "decl")),
    (
        "Modules, imports, constants, aliases, agents",
        ("moduleDecl", "importDecl", "constDecl", "aliasDecl", "agentDecl"),
    ),
    ("Enums and flags", ("enumDecl", "flagsDecl", "enumBody", "enumMember")),
    ("Structs, errors, unions", ("structDecl", "structBody", "structMember", "reservedItem", "innerDecl")),
    ("Services and topics", ("serviceDecl", "serviceBody", "method", "fieldList", "field", "topicDecl")),
    ("Types and annotations", ("type", "typeArgument", "annotation", "argument")),
    ("Values and names", ("value", "entry", "integer", "path", "name")),
)
_NOTES = {
    "structMember": "Without a type it is `reserved`: the `name` is then that word.",
    "name": "No word is reserved.",
    "innerDecl": "`INNER_STRUCT` is `struct`, `error` or `union`, `INNER_ENUM` is `enum` or `flags`, "
    "`INNER_OPEN` is `open`, `INNER_TYPE` is `type`.",
}
_INTRODUCTION = """# The grammar

Made from [MfidlParser.g4](../../grammar/MfidlParser.g4) by `tools/grammar/diagrams.py`; do not edit.
Round boxes are text of a schema as written, square ones are other rules, or the words in capitals at the
end of this page. Read it with [the language](../language.md): what a name means, and which annotations and
types there are, is not decided by the grammar.
"""
_WORDS = r"""
## Words

| word | is |
|---|---|
| `NAME` | a letter or `_`, then letters, digits and `_`; ASCII |
| `INTEGER` | digits, with `_` between them for the eye |
| `HEX` | `0x`, then hexadecimal digits and `_`; read before units, so `0x1d` is 29 |
| `FLOAT` | `1.5`, `1e-3`, `1.5e3`: digits on both sides of the point, and at least a point or an exponent |
| `DURATION` | digits and one unit: `ns` `us` `ms` `s` `min` `h` `d` |
| `STRING` | `"…"` on one line, with the escapes `\n` `\r` `\t` `\0` `\\` `\"` `\xNN` `\u{N..N}` |

Between words: spaces, tabs, line ends, `// …` to the end of the line, and `/* … */`, which does not nest.
`/// …` is the documentation of what begins behind it. Brackets nest at most 64 deep.
"""


def _seen(expr: Expr) -> Expr | None:
    """The expression without what is not drawn."""
    match expr:
        case Ref(name):
            return None if name in _UNSEEN else expr
        case Seq(parts):
            kept = _all(parts)
            return kept[0] if len(kept) == 1 else Seq(kept)
        case Alt(choices):
            kept = _all(choices)
            return kept[0] if len(kept) == 1 else Alt(kept)
        case Repeat(body, mark):
            seen = _seen(body)
            return None if seen is None else Repeat(seen, mark)


def _all(parts: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(seen for part in parts if (seen := _seen(part)) is not None)


def files() -> dict[str, str]:
    """Maps file names to their texts."""
    rules, literals = grammar_rules(), grammar_literals()
    shown = [name for _, names in _GROUPS for name in names]
    if sorted(shown) != sorted(rules):
        raise ValueError(f"rules without a place on the page: {set(rules) ^ set(shown)}")
    page = [_INTRODUCTION]
    written: dict[str, str] = {}
    for title, names in _GROUPS:
        page.append(f"\n## {title}\n")
        for name in names:
            expr = _seen(rules[name])
            if expr is None:
                raise ValueError(f"nothing of the rule {name} is to be seen")
            written[f"{name}.svg"] = svg(box_of(expr, literals), name)
            note = f" {_NOTES[name]}" if name in _NOTES else ""
            page.append(f"\n`{name}`{note}\n\n![{name}]({name}.svg)\n")
    page.append(_WORDS)
    written["README.md"] = "".join(page)
    return written


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = files()
    for path in FOLDER.iterdir():
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"regen: docs/grammar/{name} changed")


if __name__ == "__main__":
    main()
