"""A flexible message as its receiver sees it: attributes with any names, and `src` and `dest`.

    m = process.recv(tag="input")
    m.src, m.data, m["data"], "data" in m, list(m), len(m), attributes(m)

Its methods have names with underscores only, since any other name may be an attribute. It is immutable.
"""

from collections.abc import Iterator, Mapping
from typing import Any

_LONGEST = 60  # characters of a value in a repr


class Message:
    __slots__ = ("__values",)

    def __init__(self, src: str, dest: str, values: Mapping[str, Any]) -> None:
        self.__values = {"src": src, "dest": dest, **values}

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError as missing:
            raise AttributeError(*missing.args) from None

    def __getitem__(self, name: str) -> Any:
        """Raises KeyError with an explanation for a name that the message does not have."""
        try:
            return self.__values[name]
        except KeyError:
            text = f"this message has no attribute {name!r}{_instead(name, self)}: {self!r}"
            raise KeyError(text) from None

    def __contains__(self, name: object) -> bool:
        return name in self.__values

    def __iter__(self) -> Iterator[str]:
        """The names of all attributes, `src` and `dest` first."""
        return iter(self.__values)

    def __len__(self) -> int:
        """How many attributes the sender set; it may be 0, but a message is always true."""
        return len(self.__values) - 2

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted(self)

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def __repr__(self) -> str:
        shown = [f"{name}={_short(self[name])}" for name in self]
        return f"mf.flex.Message({', '.join(shown)})"


def everything(message: Message) -> dict[str, Any]:
    """All attributes with `src` and `dest`, for the runtime; the caller must not change the dict."""
    values: dict[str, Any] = message._Message__values  # the mangled name of the private attribute
    return values


def attributes(message: Message) -> dict[str, Any]:
    """A new dict of the attributes that the sender set, without `src` and `dest`."""
    return {name: message[name] for name in message if name not in ("src", "dest")}


def _short(value: Any) -> str:
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(value, "shape"):
        return f"<array {value.dtype} {'x'.join(map(str, value.shape)) or 'scalar'}>"
    if isinstance(value, str | bytes) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]!r}… ({len(value):,})"
    if isinstance(value, list | dict) and len(value) > 8:
        return f"<{kind.__name__} of {len(value):,}>"
    text = repr(value)
    return text if len(text) <= 2 * _LONGEST else f"{text[:_LONGEST]}…"


def _instead(name: str, message: Message) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, list(message), 1)
    return f", but {close[0]!r}" if close else ""
