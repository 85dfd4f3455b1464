"""R5. The identities of clients that show tokens. Thread-safe.

A token that was sent in clear may have been read on the way, and is refused. Expired tokens, and those of a
key that was taken out of the file, end the connections that were made with them.
"""

from time import time
from typing import TYPE_CHECKING

from mf.core.files import stamp_of
from mf.core.identity import Identity, IdentityKind
from mf.core.log import info, line, warning
from mf.core.secret import Secret
from mf.protocol.wire import Unauthenticated
from mf.tokens.claims import TokenClaims, TokenError

if TYPE_CHECKING:
    from mf.tokens.keys import TokenKeys


class TokenGate:
    """Raises ValueError, which names the file, for keys that cannot be used."""

    __slots__ = ("_audience", "_file", "_keys", "_stamp")

    def __init__(self, file: str, audience: str) -> None:
        self._file = file
        self._audience = audience
        self._stamp = stamp_of(file)  # before it is read: one that is replaced meanwhile is read again
        self._keys = self._read()

    def _read(self) -> "TokenKeys":
        from mf.tokens.keys import TokenKeys

        return TokenKeys.read(self._file)

    def refresh(self, *, always: bool) -> bool:
        """Reads the keys again if the file was replaced, or `always`. False: they cannot be used, which the
        log says, and those read before stay in use."""
        stamp = stamp_of(self._file)
        if stamp == self._stamp and not always:
            return True
        try:
            keys = self._read()
        except ValueError as refused:  # tried again at the next look
            warning("%s", line("token_keys_kept", reason=refused))
            return False
        self._stamp, self._keys = stamp, keys
        info("%s", line("token_keys_read", file=self._file, keys=len(keys.ids)))
        return True

    def claims_of(self, token: Secret, peer: str) -> TokenClaims:
        """Raises Unauthenticated, without any part of the token."""
        if peer.startswith("tcp:"):
            raise Unauthenticated("a token is not accepted over a connection in clear")
        try:
            claims = self._keys.verify(token, self._audience)
        except TokenError as refused:
            raise Unauthenticated(str(refused)) from None
        if not _is_plain(claims.subject):
            raise Unauthenticated("the token's sub is no name: printable ASCII without spaces and '*'")
        return claims

    def still_accepts(self, claims: TokenClaims) -> bool:
        """Of a token that it has accepted before."""
        from mf.tokens.keys import SKEW

        return claims.key_id in self._keys.ids and time() < claims.expires + SKEW


def identity_of(claims: TokenClaims) -> Identity:
    return Identity(IdentityKind.TOKEN, f"token:{claims.subject}", claims.issuer)


def _is_plain(name: str) -> bool:
    return all(" " < character <= "~" and character != "*" for character in name)
