"""A failed decode whose traceback is garbage must not take the interpreter down: CPython frees the memoryview
below a `struct` iterator first, and then the iterator reads it.
"""

import gc

import mf
from tests.python.codec.generated import codec_of


def _refused_and_kept_in_a_cycle() -> None:
    codec = codec_of("shapes.mfidl", "vectors.shapes.Lists")
    # No flags, small, numbers, features; then three postings, the first with a rank that is none.
    data = bytes(4) + b"\x03" + bytes.fromhex("0000000000000900") * 3
    kept: list[BaseException] = []
    try:
        codec.decode(data)
    except mf.DecodeError as error:
        kept.append(error)
    cause: BaseException | None = kept[0]
    while cause is not None:
        kept.append(cause)
        cause = cause.__context__
    kept.append(kept)  # type: ignore[arg-type]


def test_tracebacks_of_refused_bytes_can_be_collected() -> None:
    gc.collect()
    for _ in range(3):
        _refused_and_kept_in_a_cycle()

    assert gc.collect() > 0
