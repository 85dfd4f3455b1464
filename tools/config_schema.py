"""Writes docs/config.schema.json, which editors use for the files that `mf.config.load` reads, and the table
of docs/configuration.md, both from the keys of mf/config/keys.py.
"""

import json
from pathlib import Path
from typing import Any

from mf.config.keys import KEYS
from mf.config.values import Key, Kind

_DOCS = Path(__file__).resolve().parents[1] / "docs"
PATH = _DOCS / "config.schema.json"
PAGE = _DOCS / "configuration.md"
_BEGIN, _END = "<!-- keys -->\n", "<!-- end of keys -->\n"
_TYPES = {
    Kind.TEXT: "string",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
    Kind.LIST: "array",
}


def schema() -> str:
    """The text of the file."""
    whole = _section()
    for key in KEYS:
        *sections, name = key.name.split(".")
        properties = whole["properties"]
        for each in sections:
            properties = properties.setdefault(each, _section())["properties"]
        properties[name] = _value(key)
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Configuration of MF/IDL"}
    return json.dumps(head | whole, indent=2) + "\n"


def _section() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": False, "properties": {}}


def _value(key: Key) -> dict[str, Any]:
    value: dict[str, Any] = {"type": _TYPES[key.kind], "description": key.meaning}
    if key.kind in (Kind.INTEGER, Kind.NUMBER):
        value |= {"minimum": key.least, "maximum": key.most}
    if key.kind is Kind.LIST:
        value["items"] = {"type": "string"}
    if key.choices:
        value["enum"] = list(key.choices)
    return value


def page() -> str:
    """The text of the page with the table."""
    before, _, rest = PAGE.read_text().partition(_BEGIN)
    _, _, behind = rest.partition(_END)
    rows = [f"| `{key.name}` | {key.wanted()} | {key.meaning} |\n" for key in KEYS]
    table = "".join(["| key | value | meaning |\n", "|---|---|---|\n", *rows])
    return f"{before}{_BEGIN}\n{table}\n{_END}{behind}"


if __name__ == "__main__":
    PATH.write_text(schema())
    PAGE.write_text(page())
