"""Attributes of flexible messages from words and JSON, and as JSON."""

import base64
import json
from typing import TYPE_CHECKING, Any

from mf_tools.connect import Place, quiet, text_of
from mf_tools.guard import USAGE, CommandError

if TYPE_CHECKING:
    from mf import flex


def node(place: Place) -> "flex.Node":
    from mf import flex

    quiet()
    try:
        return flex.Node(place.where, tls=place.tls())
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None


def attributes(words: tuple[str, ...]) -> dict[str, Any]:
    """`key=JSON`, `key=text`; an object as JSON, `-` or `@FILE` has several."""
    found: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if word == "-" or word[:1] in ("{", "@"):
            found.update(_object(text_of(word)))
        elif not equals or not key.isidentifier():
            raise CommandError(f"'{word}' is no attribute: give KEY=VALUE, or an object as JSON", USAGE)
        else:
            found[key] = _value(text)
    return found


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise CommandError(f"the attributes are no JSON: {wrong}"[:200], USAGE) from None
    if not isinstance(found, dict):
        raise CommandError("the attributes are no object of JSON", USAGE)
    return found


def _value(text: str) -> Any:
    """JSON where it is some, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_json(message: "flex.Message") -> str:
    from mf import flex

    return json.dumps(flex.attributes(message), default=_other, ensure_ascii=False, separators=(",", ":"))


def _other(value: Any) -> Any:
    """What JSON lacks: bytes as base64, arrays as lists, declared values by their names."""
    import mf
    from mf import flex

    if isinstance(value, bytes | bytearray | memoryview):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, mf.Timestamp | mf.Duration):
        return json.loads(mf.to_json(value))
    if isinstance(value, flex.Typed):
        return str(value)
    if hasattr(value, "tolist"):  # an array of numpy
        return value.tolist()
    return str(value)
