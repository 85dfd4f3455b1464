"""`mf token`: keys that sign, and tokens; docs/tokens.md."""

import json
import re
import sys
import time
from typing import TYPE_CHECKING

import click

from mf_tools.files import new_file
from mf_tools.guard import FAILED, USAGE, CommandError
from mf_tools.output import emit, line

if TYPE_CHECKING:
    import mf

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST = 366 * 86_400


@click.group()
def command() -> None:
    """Keys and tokens. No key and no token is an argument: all users of a host can see those."""


@command.command(short_help="Make a private key and its public one.")
@click.argument("file")
def key(file: str) -> None:
    """Make the private key FILE, mode 0600, and FILE.pub for all servers that verify; print the key's id."""
    import mf

    signer = mf.TokenSigner.generate()
    new_file(file, signer.private_pem().reveal())
    new_file(f"{file}.pub", signer.public_pem(), for_all=True)
    line(mf.TokenKeys.of_pem(signer.public_pem().encode()).ids[0])


@command.command()
@click.option("--key", "key_file", required=True, help="The file of the private key.")
@click.option("--sub", required=True, help="The subject: its identity is token:SUB.")
@click.option("--aud", required=True, help="What it is for.")
@click.option("--for", "lasts", default="1h", show_default=True, help="How long, in s, m, h or d.")
@click.option("--out", required=True, help="A file, which is made with mode 0600.")
def new(key_file: str, sub: str, aud: str, lasts: str, out: str) -> None:
    """Sign a token."""
    import mf

    now = int(time.time())
    try:
        signer = mf.TokenSigner.read(key_file)
        claims = mf.TokenClaims(subject=sub, audience=aud, issued=now, expires=now + _seconds(lasts))
        token = signer.sign(claims)
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    new_file(out, token.reveal() + "\n")
    line(f"{out}: token:{sub} for {aud}, {lasts}")


@command.command(short_help="Print the claims of a token.")
@click.argument("file", required=False)
@click.option("--keys", help="The file of public keys: verify the signature.")
@click.option("--aud", help="What it is for: verify that, and the time. Needs --keys.")
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def show(file: str | None, keys: str | None, aud: str | None, as_json: bool) -> int:
    """Print the claims of a token in a file, or in a line of standard input; never the token."""
    import mf

    try:
        token = mf.read_token(file) if file else mf.Secret(sys.stdin.readline(4096).strip())
        known = None if keys is None else mf.TokenKeys.read(keys)
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    trouble = ""
    claims = None
    if known is not None:
        try:
            claims = known.verify(token, aud) if aud is not None else known.check_signature(token)
        except mf.TokenError as refused:
            trouble = f"{refused.fault.value}: {refused}"
    said = _said(token) if claims is None else _of(claims)
    expires = said.get("expires")
    if not trouble and isinstance(expires, int) and expires < time.time():
        trouble = "expired"
    if as_json:
        emit({**said, "verified": claims is not None, "trouble": trouble})
    else:
        for name, value in said.items():
            line(f"{name}: {value}")
        line(
            trouble or ("the signature is good" if claims is not None else "the signature was not looked at")
        )
    return FAILED if trouble else 0


def _seconds(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,9})([smhd])", text)
    seconds = int(found.group(1)) * _UNITS[found.group(2)] if found else 0
    if not 0 < seconds <= _LONGEST:
        raise CommandError(f"--for {text}: it is a number with s, m, h or d behind it, at most 366d", USAGE)
    return seconds


def _of(claims: "mf.TokenClaims") -> dict[str, object]:
    said = {
        "subject": claims.subject,
        "audience": claims.audience,
        "issuer": claims.issuer,
        "issued": claims.issued,
        "not_before": claims.not_before,
        "expires": claims.expires,
        "key_id": claims.key_id,
    }
    return {name: value for name, value in said.items() if value}


def _said(token: "mf.Secret") -> dict[str, object]:
    """What an unverified token says of itself; empty if that cannot be read."""
    import base64
    from datetime import datetime

    try:
        body = token.reveal().split(".")[2]
        data = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))[:-64]
        members = json.loads(data)
        names = {"sub": "subject", "aud": "audience", "iss": "issuer"}
        said: dict[str, object] = {names[key]: str(members[key]) for key in names if key in members}
        for key, name in (("iat", "issued"), ("nbf", "not_before"), ("exp", "expires")):
            if key in members:
                said[name] = int(datetime.fromisoformat(members[key]).timestamp())
        return said
    except (ValueError, IndexError, KeyError, TypeError, RecursionError):
        raise CommandError("this is no token", FAILED) from None
