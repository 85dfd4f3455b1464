"""R2. Memory for large payloads. Its pages are only taken when bytes arrive in them, so that a peer that
announces much and sends little costs little.
"""

from contextlib import suppress
from typing import Any

BELIEVED = 1 << 20
"""After so many bytes of a payload, memory for the rest may be allocated."""
_LARGE_PAGE = 2 << 20  # Linux places memory of whole large pages so that it can consist of them


def untouched(size: int) -> memoryview:
    """Memory whose pages are only allocated when bytes arrive in them; a bytearray is filled with zeros."""
    from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap  # only needed to receive large payloads

    room = -(-size // _LARGE_PAGE) * _LARGE_PAGE if size >= 2 * BELIEVED else size
    return memoryview(mmap(-1, room, MAP_PRIVATE | MAP_ANONYMOUS))[:size]


def in_large_pages(memory: memoryview) -> None:
    """Uses large pages, since faulting in each common page costs more than filling it."""
    import mmap

    if len(memory) >= 2 * BELIEVED and hasattr(mmap, "MADV_HUGEPAGE"):
        owner: Any = memory.obj
        with suppress(OSError):  # a kernel without them
            owner.madvise(mmap.MADV_HUGEPAGE)
