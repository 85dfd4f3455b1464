"""R3. The few fields of certificates, and of lists of revoked ones, that Python's `ssl` does not show.
OpenSSL has verified the certificates that are read here, and the lists are files of this host.

Each value of DER is a tag, a size and that many bytes. What is read here:

    certificate  SEQUENCE { SEQUENCE { [0] version?, INTEGER serial, algorithm, issuer,
                                       SEQUENCE { time first, time last }, subject, key, [1]?, [2]?,
                                       [3] { SEQUENCE OF SEQUENCE { OID, BOOLEAN?, OCTET STRING } }? }, … }
    names        the octets of the extension 2.5.29.17: SEQUENCE OF ([2] DNS | [6] URI | others)
    list         SEQUENCE { SEQUENCE { INTEGER version?, algorithm, issuer, time, time?,
                                       SEQUENCE OF SEQUENCE { INTEGER serial, time, … }?, … }, … }
"""

import re
from binascii import Error as Base64Error
from binascii import a2b_base64
from calendar import timegm
from typing import NamedTuple

_LIST = re.compile(rb"^-----BEGIN X509 CRL-----\s*$(.*?)^-----END X509 CRL-----\s*$", re.M | re.S)
_INTEGER, _SEQUENCE, _VERSION = 0x02, 0x30, 0xA0
_EXTENSIONS, _DNS, _URI = 0xA3, 0x82, 0x86
_NAMES = b"\x55\x1d\x11"
_UTC_TIME, _TIMES = 0x17, (0x17, 0x18)
_TIME = re.compile(rb"(\d{4})" + rb"(\d\d)" * 5 + b"Z")


_CERTIFICATE = re.compile(rb"^-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----\s*$(.*?)^-----END ", re.M | re.S)


class Named(NamedTuple):
    """The serial number, the issuer and the subject of a certificate, as they are encoded."""

    serial: bytes
    issuer: bytes
    subject: bytes


class Validity(NamedTuple):
    """The first and the last second of the time for which a certificate is valid, since 1970."""

    first: float
    last: float


def named(certificate: bytes) -> Named:
    """Raises ValueError for bytes that are no certificate."""
    fields = _fields(certificate)
    return Named(serial=fields[0][1], issuer=fields[2][1], subject=fields[4][1])


def validity(certificate: bytes) -> Validity:
    """Raises ValueError for bytes that are no certificate."""
    first, last = _values(_fields(certificate)[3][1])
    return Validity(_time(*first), _time(*last))


def validity_in(pem: bytes) -> Validity:
    """Of the first certificate of a PEM file. Raises ValueError if it has none, or a damaged one."""
    found = _CERTIFICATE.search(pem)
    if found is None:
        raise ValueError("there is no certificate in PEM format")
    try:
        return validity(a2b_base64(found[1]))
    except Base64Error:
        raise ValueError("a certificate is damaged") from None


def alternative_names(certificate: bytes) -> list[tuple[str, str]]:
    """Its names of the kinds "DNS" and "URI", in their order; each byte is a character. Raises ValueError
    for bytes that are no certificate."""
    extensions = [
        _values(each)
        for tag, outer in _fields(certificate)[5:]
        if tag == _EXTENSIONS
        for _, each in _inner(outer)
    ]
    found = [parts[-1][1] for parts in extensions if parts[0][1] == _NAMES]
    if len(found) != 1:
        return []
    kinds = {_DNS: "DNS", _URI: "URI"}
    return [(kinds[tag], name.decode("latin-1")) for tag, name in _inner(found[0]) if tag in kinds]


def _time(tag: int, text: bytes) -> float:
    if tag == _UTC_TIME:
        text = (b"19" if text >= b"50" else b"20") + text
    parts = _TIME.fullmatch(text)
    if not parts:
        raise ValueError("a time of the certificate is damaged")
    return timegm(tuple(int(each) for each in parts.groups()))


def _fields(certificate: bytes) -> list[tuple[int, bytes]]:
    fields = _inner(_first(certificate))
    if fields[0][0] == _VERSION:
        del fields[0]
    if len(fields) < 6:
        raise ValueError("DER has too few values")
    return fields


def revoked(text: bytes) -> frozenset[bytes]:
    """The serial numbers on all lists of a PEM file. Raises ValueError if it has none, or a damaged one."""
    serials: set[bytes] = set()
    lists = _LIST.findall(text)
    if not lists:
        raise ValueError("there is no list of revoked certificates in PEM format")
    for each in lists:
        try:
            serials.update(_revoked(a2b_base64(each)))
        except Base64Error:
            raise ValueError("a list of revoked certificates is damaged") from None
    return frozenset(serials)


def _revoked(der: bytes) -> list[bytes]:
    fields = _inner(_first(der))
    if fields and fields[0][0] == _INTEGER:
        del fields[0]
    after = [tag for tag, _ in fields[2:]]
    skipped = 2 + sum(tag in _TIMES for tag in after[:2])
    if len(fields) <= skipped or fields[skipped][0] != _SEQUENCE:
        return []
    return [_values(entry)[0][1] for _, entry in _values(fields[skipped][1])]


def _first(der: bytes) -> bytes:
    return _values(der)[0][1]


def _inner(of: bytes) -> list[tuple[int, bytes]]:
    """What the first value within is made of."""
    return _values(_first(of))


def _values(der: bytes) -> list[tuple[int, bytes]]:
    """The tags and bytes of values that follow one another. Raises ValueError unless they fill `der`."""
    values = []
    at = 0
    while at < len(der):
        if at + 2 > len(der):
            raise ValueError("DER is cut short")
        tag, size = der[at], der[at + 1]
        at += 2
        if size >= 0x80:
            count = size & 0x7F
            size = int.from_bytes(der[at : at + count], "big")
            at += count
        if at + size > len(der):
            raise ValueError("DER is cut short")
        values.append((tag, der[at : at + size]))
        at += size
    if not values:
        raise ValueError("DER is empty")
    return values
