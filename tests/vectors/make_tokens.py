"""Writes tests/vectors/tokens/tokens.json: tokens that both runtimes must accept, or refuse for one reason.

It signs with the package `cryptography` alone, and knows no line of the runtimes; pyseto reads the results in
tests/python/tokens/test_vectors.py.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

OUT = Path(__file__).parent / "tokens/tokens.json"
NOW = 1_795_924_800  # 2026-11-29T04:00:00Z
KNOWN = Ed25519PrivateKey.from_private_bytes(  # of RFC 8037, appendix A
    bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
)
SECOND = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
FOREIGN = Ed25519PrivateKey.from_private_bytes(bytes(32))
GOOD = '{"sub":"web-1","aud":"shop.Orders","exp":"2026-11-29T05:00:00Z"}'


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def raw(key: Ed25519PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def thumbprint(key: Ed25519PrivateKey) -> str:
    return base64url(sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{base64url(raw(key))}"}}'.encode()).digest())


def public_pem(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def private_pem(key: Ed25519PrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def size(number: int) -> bytes:
    return number.to_bytes(8, "little")


def signed(
    claims: str | bytes, key: Ed25519PrivateKey = KNOWN, footer: str | None = None, header: str = "v4.public."
) -> str:
    data = claims.encode() if isinstance(claims, str) else claims
    footer = f'{{"kid":"{thumbprint(key)}"}}' if footer is None else footer
    pieces = [header.encode(), data, footer.encode(), b""]
    message = size(4) + b"".join(size(len(each)) + each for each in pieces)
    return f"{header}{base64url(data + key.sign(message))}.{base64url(footer.encode())}"


def claims(**changes: str | None) -> str:
    members = json.loads(GOOD) | changes
    return json.dumps({name: value for name, value in members.items() if value is not None})


def altered(token: str, at: int) -> str:
    return token[:at] + ("A" if token[at] != "A" else "B") + token[at + 1 :]


def jwt(algorithm: str) -> str:
    header = base64url(f'{{"alg":"{algorithm}"}}'.encode())
    return f"{header}.{base64url(GOOD.encode())}.{base64url(bytes(64))}"


def accepted() -> dict[str, str]:
    return {
        "plain": signed(GOOD),
        "the second key": signed(GOOD, SECOND),
        "all claims": signed(
            claims(nbf="2026-11-29T03:00:00Z", iat="2026-11-29T03:00:00Z", iss="ops", jti="7")
        ),
        "blanks": signed(' \t\r\n{ "sub" : "web-1" , "aud":"shop.Orders","exp":"2026-11-29T05:00:00Z" } '),
        "escapes": signed(
            r'{"s\u0075b":"\"\\\/\u00e9\ud83d\ude00","aud":"shop.Orders","exp":"2026-11-29T05:00:00Z"}'
        ),
        "a subject of 255 bytes": signed(claims(sub="s" * 255)),
        "an offset": signed(claims(exp="2026-11-29T06:00:00+02:00")),
        "an offset behind": signed(claims(exp="2026-11-28T20:30:00-07:45")),
        "a fraction": signed(claims(exp="2026-11-29T05:00:00.123456789Z")),
        "a leap day": signed(claims(exp="2028-02-29T00:00:00Z")),
        "expired within the skew": signed(claims(exp="2026-11-29T03:59:01Z")),
        "early within the skew": signed(claims(nbf="2026-11-29T04:01:00Z")),
        "the last year": signed(claims(exp="9999-12-31T23:59:59-23:59")),
    }


def refused() -> dict[str, tuple[str, str | bytes]]:
    good = signed(GOOD)
    body, footer = good.removeprefix("v4.public.").split(".")
    kid = f'{{"kid":"{thumbprint(KNOWN)}"}}'
    found: dict[str, tuple[str, str | bytes]] = {
        "oversized": ("oversized", "v4.public." + "A" * 2039),
        "oversized and nothing else wrong": ("oversized", signed(claims(jti="j" * 1600))),
        "empty": ("version", ""),
        "another version": ("version", signed(GOOD, header="v2.public.")),
        "another purpose": ("version", "v4.local." + body + "." + footer),
        "NIST's curve": ("version", "v3.public." + body + "." + footer),
        "a JWT of EdDSA": ("version", jwt("EdDSA")),
        "a JWT of none": ("version", jwt("none")),
        "a JWT of HS256": ("version", jwt("HS256")),
        "a blank before": ("version", " " + good),
        "the header alone": ("form", "v4.public."),
        "no footer": ("form", "v4.public." + body),
        "three parts": ("form", good + ".AA"),
        "truncated to less than a signature": ("form", f"v4.public.{body[:84]}.{footer}"),
        "truncated by a letter": ("encoding", good[:-1]),
        "a truncated footer": ("unknown_key", f"v4.public.{body}.{base64url(kid.encode()[:-3])}"),
        "truncated claims": ("signature", f"v4.public.{base64url(decoded(body)[:-3])}.{footer}"),
        "padding": ("encoding", f"v4.public.{body}.{footer}="),
        "padding of the claims": ("encoding", f"v4.public.{base64url(b'x' * 65)}=.{footer}"),
        "the other alphabet": ("encoding", f"v4.public.{'+/' * 60}.{footer}"),
        "bits behind the last byte": ("encoding", f"v4.public.{'A' * 86 + 'B'}.{footer}"),
        "a blank within": ("encoding", f"v4.public.{body[:20]} {body[20:]}.{footer}"),
        "a newline behind": ("encoding", good + "\n"),
        "a NUL behind": ("encoding", good + "\0"),
        "bytes that are not ASCII": ("encoding", good.encode()[:-1] + b"\xff"),
        "an unknown key": ("unknown_key", signed(GOOD, FOREIGN)),
        "an empty footer": ("unknown_key", signed(GOOD, footer="")),
        "a footer with a blank": ("unknown_key", signed(GOOD, footer=kid.replace(":", ": "))),
        "a footer with more": ("unknown_key", signed(GOOD, footer=kid[:-1] + ',"alg":"none"}')),
        "signed by a foreign key": ("signature", signed(GOOD, FOREIGN, footer=kid)),
        "signed by the other key": ("signature", signed(GOOD, SECOND, footer=kid)),
        "signed for another header": ("signature", "v4.public." + signed(GOOD, header="v2.public.")[10:]),
        "a footer of the other key": (
            "signature",
            f"v4.public.{body}.{base64url(kid.replace(thumbprint(KNOWN), thumbprint(SECOND)).encode())}",
        ),
        "a signature of zeros": ("signature", f"v4.public.{base64url(GOOD.encode() + bytes(64))}.{footer}"),
        "not UTF-8": ("text", signed(GOOD.encode().replace(b"web-1", b"web-\xff"))),
        "an overlong encoding": ("text", signed(GOOD.encode().replace(b"web-1", b"web\xc0\xaf"))),
        "half a surrogate": ("text", signed(GOOD.replace("web-1", r"web-\ud83d"))),
        "no claims": ("claims", signed("")),
        "an empty object": ("claims", signed("{}")),
        "a list": ("claims", signed("[]")),
        "deep lists": ("claims", signed("[" * 1200)),
        "a byte order mark": ("claims", signed("\ufeff" + GOOD)),
        "more behind": ("claims", signed(GOOD + "{}")),
        "a comma too many": ("claims", signed(GOOD[:-1] + ",}")),
        "a number": ("claims", signed(GOOD[:-1] + ',"iat":1}')),
        "a claim that is unknown": ("claims", signed(claims(scope="read"))),
        "a control character": ("claims", signed(GOOD.replace("web-1", "web\n"))),
        "an escaped control character": ("claims", signed(GOOD.replace("web-1", r"web\u0000"))),
        "an escape that is none": ("claims", signed(GOOD.replace("web-1", r"web\x41"))),
        "no subject": ("claims", signed(claims(sub=None))),
        "an empty subject": ("claims", signed(claims(sub=""))),
        "a subject of 256 bytes": ("claims", signed(claims(sub="s" * 256))),
        "no audience": ("claims", signed(claims(aud=None))),
        "several audiences": ("claims", signed(GOOD.replace('"shop.Orders"', '["shop.Orders"]'))),
        "no expiry": ("claims", signed(claims(exp=None))),
        "an expiry in seconds": ("claims", signed(claims(exp="1795928400"))),
        "no such day": ("claims", signed(claims(exp="2027-02-29T00:00:00Z"))),
        "no such hour": ("claims", signed(claims(exp="2027-02-28T24:00:00Z"))),
        "a leap second": ("claims", signed(claims(exp="2027-06-30T23:59:60Z"))),
        "no zone": ("claims", signed(claims(exp="2027-02-28T00:00:00"))),
        "digits of Arabic": ("claims", signed(claims(exp="202٧-02-28T00:00:00Z"))),
        "year 0": ("claims", signed(claims(exp="0000-01-01T00:00:00Z"))),
        "nbf is no time": ("claims", signed(claims(nbf="soon"))),
        "sub twice": ("duplicate", signed(GOOD[:-1] + ',"sub":"root"}')),
        "sub twice, once escaped": ("duplicate", signed(GOOD[:-1] + ',"\\u0073ub":"root"}')),
        "exp twice": ("duplicate", signed(GOOD[:-1] + ',"exp":"2030-01-01T00:00:00Z"}')),
        "another audience": ("audience", signed(claims(aud="shop.Stock"))),
        "an audience of other case": ("audience", signed(claims(aud="shop.orders"))),
        "another audience, and expired": ("audience", signed(claims(aud="x", exp="2020-01-01T00:00:00Z"))),
        "not yet valid": ("not_yet_valid", signed(claims(nbf="2026-11-29T04:01:01Z"))),
        "issued in the future": ("not_yet_valid", signed(claims(iat="2026-11-29T05:00:00Z"))),
        "expired": ("expired", signed(claims(exp="2026-11-29T03:59:00Z"))),
        "expired long ago": ("expired", signed(claims(exp="0001-01-01T00:00:00+23:59"))),
    }
    for place in (10, 60, 120, len(good) - len(footer) - 2):
        found[f"altered at {place}"] = ("signature", altered(good, place))
    return found


def main() -> None:
    cases: list[dict[str, Any]] = [
        {"name": name, "hex": token.encode().hex(), "fault": None} for name, token in accepted().items()
    ]
    for name, (fault, token) in refused().items():
        data = token.encode() if isinstance(token, str) else token
        cases.append({"name": name, "hex": data.hex(), "fault": fault})
    whole = {
        "about": "Tokens, and the fault of each; made by make_tokens.py.",
        "now": NOW,
        "audience": "shop.Orders",
        "keys": public_pem(KNOWN) + public_pem(SECOND),
        "signer": private_pem(KNOWN),
        "ids": [thumbprint(KNOWN), thumbprint(SECOND)],
        "cases": cases,
    }
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(whole, indent=1) + "\n")


if __name__ == "__main__":
    main()
