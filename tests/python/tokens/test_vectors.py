"""tests/vectors/tokens: C++ is held to the same table. pyseto, which has no part in it, is the oracle."""

import json
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pyseto
import pytest

from mf.tokens.claims import TokenError
from mf.tokens.keys import TokenKeys, TokenSigner

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/tokens/tokens.json").read_text())
CASES = VECTORS["cases"]
KEYS = TokenKeys.of_pem(VECTORS["keys"].encode())
BEFORE_CLAIMS = {"oversized", "version", "form", "encoding", "unknown_key", "signature"}


def named(case: dict[str, Any]) -> str:
    return str(case["name"])


def fault(token: bytes) -> str | None:
    try:
        KEYS.verify(token, VECTORS["audience"], VECTORS["now"])
    except TokenError as refused:
        return refused.fault.value
    return None


def is_signed(token: bytes) -> bool:
    """What pyseto says, for the key that the token names, else the first."""
    pems = VECTORS["keys"].split("-----BEGIN")[1:]
    second = base64url_of_footer(VECTORS["ids"][1]) in token
    key = pyseto.Key.new(version=4, purpose="public", key="-----BEGIN" + pems[second])
    try:
        pyseto.decode(key, token)
    except (pyseto.PysetoError, ValueError):
        return False
    return True


def base64url_of_footer(id_: str) -> bytes:
    return urlsafe_b64encode(f'{{"kid":"{id_}"}}'.encode()).rstrip(b"=")


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_token_is_accepted_or_refused_for_its_reason(case: dict[str, Any]) -> None:
    assert fault(bytes.fromhex(case["hex"])) == case["fault"]


@pytest.mark.parametrize("case", CASES, ids=named)
def test_pyseto_finds_the_same_signatures(case: dict[str, Any]) -> None:
    token = bytes.fromhex(case["hex"])
    if case["name"] == "no claims":
        return  # pyseto reads no empty message
    if case["fault"] not in BEFORE_CLAIMS:
        assert is_signed(token)
    elif case["fault"] == "signature":
        assert not is_signed(token)


def test_keys_are_named_by_their_thumbprint() -> None:
    assert KEYS.ids == VECTORS["ids"]
    assert KEYS.ids[0] == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037, appendix A.3


def test_every_claim_is_read() -> None:
    case = next(each for each in CASES if each["name"] == "all claims")
    claims = KEYS.verify(bytes.fromhex(case["hex"]), VECTORS["audience"], VECTORS["now"])
    assert (claims.subject, claims.audience, claims.issuer) == ("web-1", "shop.Orders", "ops")
    assert (claims.expires, claims.not_before) == (VECTORS["now"] + 3600, VECTORS["now"] - 3600)
    assert (claims.issued, claims.key_id) == (VECTORS["now"] - 3600, VECTORS["ids"][0])


def test_what_this_language_signs_is_what_every_other_signs() -> None:
    plain = bytes.fromhex(CASES[0]["hex"])
    claims = KEYS.verify(plain, VECTORS["audience"], VECTORS["now"])
    assert TokenSigner.of_pem(VECTORS["signer"].encode()).sign(claims).reveal().encode() == plain


def test_no_message_has_any_part_of_a_token() -> None:
    for case in CASES:
        token = bytes.fromhex(case["hex"])
        try:
            KEYS.verify(token, VECTORS["audience"], VECTORS["now"])
        except TokenError as refused:
            text = str(refused).encode()
            for part in token.split(b"."):
                assert len(part) < 8 or part[:8] not in text
            assert b"web" not in text
