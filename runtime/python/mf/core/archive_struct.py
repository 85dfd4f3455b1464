"""R1. The base of structs of tier archive, which keep the fields that their reader did not know."""

from mf.core.plain_struct import PlainStruct


class ArchiveStruct(PlainStruct):
    """A constructor sets `__mf_unknown__` to b""."""

    __slots__ = ("__mf_unknown__",)

    __mf_unknown__: bytes
