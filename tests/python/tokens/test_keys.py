"""Keys and files of tokens, and secrets; the same as tests/cpp/tokens/token_test.cpp."""

import copy
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import mf
from mf.tokens.claims import TokenClaims, TokenError, TokenFault
from mf.tokens.files import read_token, write_new
from mf.tokens.keys import MOST_KEYS, SKEW, TokenKeys, TokenSigner

NOW = 1_795_924_800
CLAIMS = TokenClaims(subject="web-1", audience="shop.Orders", expires=NOW + 3600)


@pytest.fixture(scope="module")
def signer() -> TokenSigner:
    return TokenSigner.generate()


@pytest.fixture
def key(tmp_path: Path, signer: TokenSigner) -> Path:
    write_new(str(tmp_path / "key"), signer.private_pem().reveal().encode())
    write_new(str(tmp_path / "key.pub"), signer.public_pem().encode(), for_all=True)
    return tmp_path / "key"


def test_a_server_verifies_what_a_signer_has_signed(key: Path, signer: TokenSigner) -> None:
    claims = replace(
        CLAIMS, subject='a "name" with \\ and é', not_before=NOW - 7200, issued=NOW - 9000, issuer="ops"
    )
    token = TokenSigner.read(key).sign(claims)
    keys = TokenKeys.read(key.with_suffix(".pub"))
    for form in (token, token.reveal(), token.reveal().encode()):
        assert keys.verify(form, "shop.Orders", NOW) == replace(claims, key_id=signer.id)
    assert key.stat().st_mode & 0o7777 == 0o600


def test_a_token_expires_after_the_skew_and_no_second_earlier(key: Path, signer: TokenSigner) -> None:
    keys = TokenKeys.read(key.with_suffix(".pub"))
    token = signer.sign(CLAIMS)
    keys.verify(token, "shop.Orders", NOW + 3600 + SKEW - 0.001)
    with pytest.raises(TokenError, match="expired at 2026-11-29T05:00:00Z") as refused:
        keys.verify(token, "shop.Orders", NOW + 3600 + SKEW)
    assert refused.value.fault is TokenFault.EXPIRED


@pytest.mark.parametrize("subject", ["", "s" * 256, "a\nb", "a\0b", "\ud83d"])
def test_claims_that_no_server_accepts_are_not_signed(signer: TokenSigner, subject: str) -> None:
    with pytest.raises(ValueError, match="1 to 255 bytes of UTF-8"):
        signer.sign(replace(CLAIMS, subject=subject))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_private_key_that_others_can_use_is_refused(key: Path, mode: int) -> None:
    key.chmod(mode)
    with pytest.raises(ValueError, match=f"key': others may use it \\(mode 0{mode:o}\\): chmod 600 it"):
        TokenSigner.read(key)


def test_public_keys_that_others_can_change_are_refused(key: Path) -> None:
    public = key.with_suffix(".pub")
    TokenKeys.read(public)
    public.chmod(0o664)
    with pytest.raises(ValueError, match="others may write to it"):
        TokenKeys.read(public)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_key_of_another_user_is_refused(key: Path) -> None:
    os.chown(key, 54_321, 0)
    with pytest.raises(ValueError, match="its owner, user 54321, could replace it"):
        TokenSigner.read(key)


def test_files_say_what_is_wrong_with_them(tmp_path: Path, signer: TokenSigner) -> None:
    public, private = signer.public_pem(), signer.private_pem().reveal()
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, why in ((tmp_path / "none", "No such file"), (tmp_path / "pipe", "no regular file")):
        with pytest.raises(ValueError, match=why):
            TokenKeys.read(path)
    wrong = [
        ("", "no public key"),
        (public[:60], "damaged"),
        (public + public[:60], "damaged"),
        (private, "other than public keys"),
        (public * (MOST_KEYS + 1), "more than 16 keys"),
        ("\n" * 20_000, "more than 16384 bytes"),
    ]
    for number, (text, why) in enumerate(wrong):
        write_new(str(tmp_path / str(number)), text.encode())
        with pytest.raises(ValueError, match=why):
            TokenKeys.read(tmp_path / str(number))
    write_new(str(tmp_path / "public"), public.encode())
    with pytest.raises(ValueError, match="no private key"):
        TokenSigner.read(tmp_path / "public")


def test_files_are_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "token"
    write_new(str(path), b"one\n")
    with pytest.raises(ValueError, match="File exists"):
        write_new(str(path), b"two")
    assert read_token(path) == mf.Secret("one")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="cannot be made"):
        write_new(str(tmp_path / "link"), b"three")
    assert not (tmp_path / "elsewhere").exists()


def test_without_cryptography_the_error_names_it() -> None:
    code = "import sys; sys.modules['cryptography'] = None; import mf; print(mf.Secret); mf.TokenKeys"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.stdout.startswith("<class")
    assert "pip install 'mf-runtime[tokens]'" in ended.stderr.splitlines()[-1]


def test_a_secret_is_printed_by_nothing() -> None:
    secret = mf.Secret("planted")
    shown = [str(secret), repr(secret), f"{secret}", f"{secret:>20}", "%s %r" % (secret, secret)]  # noqa: UP031
    assert not [each for each in shown if "planted" in each]
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError, match="is a str, not bytes"):
        mf.Secret(b"planted")  # type: ignore[arg-type]


def test_secrets_are_copied_and_compared() -> None:
    secret = mf.Secret("planted")
    assert copy.deepcopy(secret) == secret == mf.Secret("planted") == copy.copy(secret)
    assert len({secret, mf.Secret("planted"), mf.Secret("other")}) == 2
    assert secret != "planted"
    assert secret
    assert not mf.Secret("")
