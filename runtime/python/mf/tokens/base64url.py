"""R3. base64url of RFC 4648 without padding: bytes have one spelling, and no other is read."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error


def to_base64url(data: bytes) -> bytes:
    return urlsafe_b64encode(data).rstrip(b"=")


def from_base64url(text: bytes) -> bytes | None:
    """None if it is no base64url, has padding, or has bits behind the last byte."""
    try:
        data = urlsafe_b64decode(text + b"=" * (-len(text) % 4))
    except Error:
        return None
    return data if to_base64url(data) == text else None
