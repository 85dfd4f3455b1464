"""R0. A text that is never printed: a token, or a private key."""

import hmac
from typing import Any, NoReturn


class Secret:
    """`repr`, `str` and formatting give a placeholder, and it cannot be pickled: `reveal()` is the one way to
    its text, so that all places that use it can be found."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a secret is a str, not {type(text).__name__}")
        self.__text = text

    def reveal(self) -> str:
        """Its text, for what needs it."""
        return self.__text

    def __repr__(self) -> str:
        return "mf.Secret(…)"

    def __format__(self, _: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__text.encode(), other.__text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self.__text))

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __copy__(self) -> "Secret":
        return self

    def __deepcopy__(self, _: dict[int, Any]) -> "Secret":
        return self

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError("a secret is never pickled")
