"""R0. Metadata of calls: text by key, beside the parameters (docs/protocol.md, section 4a)."""

import re
from collections.abc import Mapping

from mf.core.error import Code, not_executed, shortened

TRACE_KEYS = ("traceparent", "tracestate")
"""W3C Trace Context: these are forwarded to calls that a handler makes."""

TOKEN_KEY = "authorization"
"""A bearer token: it is never forwarded."""

_KEY_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789._-"
_LONGEST_KEY = 64
_TRACE_PARENT = re.compile("[0-9a-f]{2}-([0-9a-f]{32})-")


def check_key(key: str) -> None:
    """Raises Error(INVALID_ARGUMENT), NOT_EXECUTED, for an invalid key."""
    if not isinstance(key, str) or not 0 < len(key) <= _LONGEST_KEY or key.strip(_KEY_CHARACTERS):
        shown = f'"{shortened(key)}"' if isinstance(key, str) else shortened(repr(key))
        text = f"a key of metadata has 1 to 64 characters of a-z, 0-9, '.', '_' and '-', and not {shown}"
        raise not_executed(Code.INVALID_ARGUMENT, text)


def trace_id_of(metadata: Mapping[str, str]) -> str:
    """The trace that a call with this metadata belongs to: the 32 hexadecimal digits of its `traceparent`.
    Empty if there is none, or no valid one."""
    found = _TRACE_PARENT.match(metadata.get("traceparent", ""))
    return found[1] if found else ""


def passed_on(metadata: Mapping[str, str], keys: tuple[str, ...]) -> dict[str, str]:
    """The part of a call's metadata that its handler's calls forward. `keys`: the user's keys to forward."""
    return {key: metadata[key] for key in (*TRACE_KEYS, *keys) if key in metadata and key != TOKEN_KEY}
