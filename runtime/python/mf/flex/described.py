"""Declared types as the senders of their values describe them, and values of them as those of the version
that are known here.

What a sender says is kept for that sender alone: two that send the same descriptor may differ in the annex.
What was made of two versions is kept for the process.
"""

from typing import Any, Final

from mf.adapt.transcode import Transcoder
from mf.adapt.values import LostError
from mf.codec.flex.declared import Known
from mf.codec.texts import Texts
from mf.core.error import Code, Error, Execution
from mf.values.reader import words_of
from mf.values.texts import transcoder

MOST_TYPES: Final = 256
MOST_BYTES: Final = 4 << 20
"""Of one sender: the texts of types beyond these are not kept, and not sent."""

_MOST_KEPT: Final = 256
_made: Final[dict[tuple[bytes, str, str], Transcoder | Error | None]] = {}


class DescribedType:
    __slots__ = ("_texts",)

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    @property
    def texts(self) -> Texts:
        return self._texts

    def convert(self, data: bytes, known: Known) -> Any:
        """Raises Error: SCHEMA_MISMATCH if no rule leads from this version to the known one, DECODE_ERROR for
        a value that does not go over."""
        found = self._transcoder(known)
        if isinstance(found, Error):
            raise Error(found.code, found.message, found.execution)
        try:
            return known.codec.decode(data if found is None else bytes(found.one(data)))
        except LostError as lost:
            raise Error(
                Code.DECODE_ERROR, f"{_name(known)}: {words_of(lost)}", Execution.NOT_EXECUTED
            ) from None

    def _transcoder(self, known: Known) -> Transcoder | Error | None:
        key = known.fingerprint, self._texts.descriptor, self._texts.annex
        if key not in _made:
            try:
                made: Transcoder | Error | None = transcoder(_name(known), known.texts, self._texts)
            except Error as refused:
                made = refused.with_traceback(None)
            _made[key] = made
            if len(_made) > _MOST_KEPT:
                _made.pop(next(iter(_made)), None)
        return _made[key]


def _name(known: Known) -> str:
    return f"a value of another version of {known.name}"


class DescribedTypes:
    """The types that one sender has described, or that were described to one receiver."""

    __slots__ = ("_bytes", "types")

    def __init__(self) -> None:
        self._bytes = 0
        self.types: dict[bytes, DescribedType] = {}

    def add(self, fingerprint: bytes, texts: Texts) -> bool:
        """False if it was described before, or is too much. `fingerprint`: of the descriptor."""
        if fingerprint in self.types or len(self.types) >= MOST_TYPES:
            return False
        size = len(texts.descriptor) + len(texts.annex)
        if self._bytes + size > MOST_BYTES:
            return False
        self._bytes += size
        self.types[fingerprint] = DescribedType(texts)
        return True
