"""R3. The keys of tokens: a TokenSigner has a private key and issues tokens, TokenKeys are the public keys by
which a server verifies them.

A token is PASETO v4.public (decision 0086), so Ed25519 signs it and no part of it names an algorithm:

    "v4.public." base64url(claims || signature) "." base64url(footer)

`claims` is a JSON object of texts, `footer` is {"kid":"ID"} to the byte, where ID names the key: the
thumbprint of RFC 7638. Nothing is parsed before the signature was verified: the size is bounded, and the
footer is compared with those of the known keys.

Needs the package `cryptography`, which is imported with this module only.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from time import time

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
        load_der_public_key,
        load_pem_private_key,
    )
except ImportError as missing:
    raise ImportError(
        "tokens need the package 'cryptography', which is not installed: pip install 'mf-runtime[tokens]'"
    ) from missing

from binascii import Error as Base64Error
from binascii import a2b_base64

from mf.core.secret import Secret
from mf.tokens.base64url import from_base64url, to_base64url
from mf.tokens.claims import TokenClaims, TokenError, TokenFault, read_claims, time_in_words, write_claims
from mf.tokens.files import read_file

MAX_TOKEN = 2048
"""A longer token is refused unread."""
SKEW = 60
"""Seconds by which the clocks of a token's issuer and of the server that verifies it may differ."""
MOST_KEYS = 16
"""Keys of a file: the present one, the next one, and those whose tokens expire."""
_HEADER = b"v4.public."
_SIGNATURE = 64
_PEM = re.compile(r"^-----BEGIN ([A-Z0-9 ]+)-----[ \t\r]*$(.*?)^-----END \1-----[ \t\r]*$", re.M | re.S)


class TokenKeys:
    """Public keys: `TokenKeys.read(path)`. Thread-safe."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Sequence[Ed25519PublicKey]) -> None:
        ids = [_id_of(each) for each in keys]
        self._keys = {_footer_of(id_): (id_, key) for id_, key in zip(ids, keys, strict=True)}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "TokenKeys":
        """All public keys of a file. Raises ValueError, which names the file, if it cannot be read, may be
        written by others, or holds anything but public keys of Ed25519."""
        path = os.fspath(path)
        return cls.of_pem(read_file(path, for_all=True), f"'{path}'")

    @classmethod
    def of_pem(cls, pem: bytes, where: str = "the key") -> "TokenKeys":
        """The same of a file's text, `pem`; `where` is for messages."""
        text = pem.decode("latin-1")
        found = _PEM.findall(text)
        if not found or len(found) != text.count("-----BEGIN"):
            raise ValueError(
                f"{where}: it holds no public key of Ed25519 in PEM format, or one that is damaged"
            )
        if len(found) > MOST_KEYS:
            raise ValueError(f"{where}: it holds more than {MOST_KEYS} keys")
        keys = []
        for kind, body in found:
            if kind != "PUBLIC KEY":
                text = (
                    "it holds something other than public keys; a server that verifies tokens needs no more"
                )
                raise ValueError(f"{where}: {text}")
            keys.append(_public_key(body, where))
        return cls(keys)

    def verify(self, token: Secret | str | bytes, audience: str, now: float | None = None) -> TokenClaims:
        """The claims of a token that one of these keys has signed for this audience, and that is valid at
        `now` (seconds since 1970). Raises TokenError."""
        claims = self.check_signature(token)
        now = time() if now is None else now
        skew = f", and clocks may differ by {SKEW} s"
        if claims.audience != audience:
            raise TokenError(TokenFault.AUDIENCE, "the token is for another service")
        for begin in (claims.not_before, claims.issued):
            if begin is not None and begin > now + SKEW:
                text = f"the token is not valid before {_shown(begin)}{skew}"
                raise TokenError(TokenFault.NOT_YET_VALID, text)
        if claims.expires + SKEW <= now:
            text = f"the token has expired at {_shown(claims.expires)}{skew}"
            raise TokenError(TokenFault.EXPIRED, text)
        return claims

    def check_signature(self, token: Secret | str | bytes) -> TokenClaims:
        """The claims of a token that one of these keys has signed; its audience and time are not looked at.
        Raises TokenError."""
        claims, signature, footer = _split(token)
        known = self._keys.get(footer)
        if known is None:
            raise TokenError(TokenFault.UNKNOWN_KEY, "the token is signed with a key that is not known here")
        id_, key = known
        try:
            key.verify(signature, _pre_authenticated(claims, footer))
        except InvalidSignature:
            raise TokenError(TokenFault.SIGNATURE, "the signature of the token is not valid") from None
        return replace(read_claims(claims), key_id=id_)

    @property
    def ids(self) -> list[str]:
        """Of the keys, as the footers of tokens have them."""
        return [id_ for id_, _ in self._keys.values()]


class TokenSigner:
    """A private key: `TokenSigner.read(path)`, `TokenSigner.generate()`. Thread-safe."""

    __slots__ = ("_key", "id")

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.id = _id_of(key.public_key())

    @classmethod
    def generate(cls) -> "TokenSigner":
        """A new key."""
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "TokenSigner":
        """Raises ValueError, which names the file, if it cannot be read, may be read by others, or holds no
        private key of Ed25519 without a passphrase."""
        path = os.fspath(path)
        return cls.of_pem(read_file(path), f"'{path}'")

    @classmethod
    def of_pem(cls, pem: bytes, where: str = "the key") -> "TokenSigner":
        """The same of a file's text, `pem`; `where` is for messages."""
        try:
            key = load_pem_private_key(pem, None)
        except (TypeError, ValueError):  # TypeError: it has a passphrase
            key = None
        if not isinstance(key, Ed25519PrivateKey):
            text = "it holds no private key of Ed25519 in PEM format without a passphrase"
            raise ValueError(f"{where}: {text}") from None
        return cls(key)

    def sign(self, claims: TokenClaims) -> Secret:
        """Raises ValueError for claims that would not be accepted. `key_id` is this key's."""
        text, footer = write_claims(claims), _footer_of(self.id)
        signature = self._key.sign(_pre_authenticated(text, footer))
        token = _HEADER + to_base64url(text + signature) + b"." + to_base64url(footer)
        if len(token) > MAX_TOKEN:
            raise ValueError("the token would be longer than is accepted")
        return Secret(token.decode())

    def public_pem(self) -> str:
        """The public key in PEM format, for the files of servers (`token_keys`)."""
        return self._key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def private_pem(self) -> Secret:
        """The key itself in PEM format, for a file that others cannot read."""
        return Secret(self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def _split(token: Secret | str | bytes) -> tuple[bytes, bytes, bytes]:
    """Claims, signature and footer, of which nothing is believed before the signature was verified."""
    if isinstance(token, Secret):
        token = token.reveal()
    if isinstance(token, str):
        token = token.encode("utf-8", "surrogatepass")
    if len(token) > MAX_TOKEN:
        raise TokenError(TokenFault.OVERSIZED, f"the token is longer than {MAX_TOKEN} bytes")
    if not token.startswith(_HEADER):
        text = "it is no token of PASETO v4.public, and no other kind is accepted"
        raise TokenError(TokenFault.VERSION, text)
    parts = token.removeprefix(_HEADER).split(b".")
    if len(parts) != 2:
        raise TokenError(TokenFault.FORM, "the token has not the two parts that it should have")
    payload, footer = map(from_base64url, parts)
    if payload is None or footer is None:
        raise TokenError(TokenFault.ENCODING, "the token is no base64url without padding")
    if len(payload) < _SIGNATURE:
        raise TokenError(TokenFault.FORM, "the token is too short for a signature")
    return payload[:-_SIGNATURE], payload[-_SIGNATURE:], footer


def _pre_authenticated(claims: bytes, footer: bytes) -> bytes:
    """What is signed: PASETO's encoding of the header, the claims, the footer, and no implicit assertion."""
    pieces = (_HEADER, claims, footer, b"")
    return b"".join([_size(len(pieces)), *(_size(len(each)) + each for each in pieces)])


def _size(number: int) -> bytes:
    return number.to_bytes(8, "little")


def _public_key(body: str, where: str) -> Ed25519PublicKey:
    try:
        key = load_der_public_key(a2b_base64(body))
    except (Base64Error, ValueError):
        key = None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"{where}: it holds a public key that is not of Ed25519") from None
    return key


def _id_of(key: Ed25519PublicKey) -> str:
    """The thumbprint of RFC 7638: SHA-256 of the key as JSON with sorted names."""
    raw = to_base64url(key.public_bytes(Encoding.Raw, PublicFormat.Raw))
    json = b'{"crv":"Ed25519","kty":"OKP","x":"' + raw + b'"}'
    return to_base64url(sha256(json).digest()).decode()


def _footer_of(id_: str) -> bytes:
    return f'{{"kid":"{id_}"}}'.encode()


def _shown(time: int) -> str:
    try:
        return time_in_words(time)
    except (OverflowError, ValueError, OSError):  # a year that Python's calendar does not have
        return f"{time} s since 1970"
