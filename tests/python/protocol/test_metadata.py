"""Metadata blocks: what a sender refuses. The vectors contain what a receiver refuses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mf.core.error import Code, Error
from mf.core.metadata import passed_on
from mf.protocol.metadata import MAX_BLOCK, pack_metadata, take_metadata

KEYS = st.text(alphabet="abcdefghijklmnopqrstuvwxyz0123456789._-", min_size=1, max_size=64)


@given(st.dictionaries(KEYS, st.text(max_size=50), max_size=20), st.binary(max_size=20))
def test_what_is_written_is_read_and_the_payload_stands_behind_it(
    entries: dict[str, str], payload: bytes
) -> None:
    block = pack_metadata(entries)

    assert len(block) % 8 == 0
    assert take_metadata(block + payload) == (entries, payload)


@given(st.binary(max_size=60))
def test_any_bytes_are_entries_or_a_fault(data: bytes) -> None:
    entries, rest = take_metadata(data)

    if isinstance(entries, Error):
        assert (entries.code, rest) == (Code.DECODE_ERROR, b"")


@pytest.mark.parametrize("key", ["", "A", "a b", "é", "k" * 65, "a\n"])
def test_a_bad_key_is_refused(key: str) -> None:
    with pytest.raises(Error) as refused:
        pack_metadata({key: "v"})

    assert refused.value.code is Code.INVALID_ARGUMENT


@pytest.mark.parametrize("value", ["\udc80", b"bytes", 5])
def test_a_value_that_is_no_text_is_refused(value: str) -> None:
    with pytest.raises(Error) as refused:
        pack_metadata({"k": value})

    assert refused.value.code is Code.INVALID_ARGUMENT


def test_a_block_holds_16_kib_and_64_entries() -> None:
    fits = {"k": "v" * (MAX_BLOCK - 8)}
    assert len(pack_metadata(fits)) == MAX_BLOCK

    for entries in ({"k": "v" * (MAX_BLOCK - 7)}, {"k": "v" * 70_000}, {f"k{i}": "" for i in range(65)}):
        with pytest.raises(Error) as refused:
            pack_metadata(entries)
        assert refused.value.code is Code.MESSAGE_TOO_LARGE


def test_traces_pass_on_listed_keys_too_and_tokens_never() -> None:
    metadata = {"traceparent": "t", "tracestate": "s", "authorization": "secret", "tenant": "a", "x": "y"}

    assert passed_on(metadata, ("tenant", "authorization")) == {
        "traceparent": "t",
        "tracestate": "s",
        "tenant": "a",
    }
