"""`mf certs`: a test authority, requests, certificates, and how many days they have left."""

import datetime
import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mf_tools.files import new_file
from mf_tools.guard import FAILED, FILES, USAGE, CommandError
from mf_tools.output import emit, line, table

if TYPE_CHECKING:
    from cryptography import x509

_CLOCKS = datetime.timedelta(minutes=5)
"""Certificates are valid from so long before now on, since clocks differ."""


@click.group()
def command() -> None:
    """A test authority, requests, certificates, days left. Private keys stay in files of mode 0600."""


@command.command()
@click.argument("folder")
@click.option("--name", default="mf test authority", show_default=True)
@click.option("--days", type=click.IntRange(1, 3660), default=365, show_default=True)
def authority(folder: str, name: str, days: int) -> None:
    """Make an authority for tests: FOLDER/ca.pem and FOLDER/ca.key. It is for tests: its key has no
    passphrase, and nothing it has issued can be revoked."""
    from cryptography import x509

    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = _new_key(home / "ca.key")
    subject = _common_name(name)
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    made = (
        _dated(x509.CertificateBuilder(), days)
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    _write(home / "ca.pem", made.sign(key, _hash()))
    line(f"{home / 'ca.pem'}: valid for {days} days")


def _named(function: Any) -> Any:
    for option in (
        click.option("--uri", "uris", multiple=True, help="A name as spiffe://example.org/search."),
        click.option("--ip", "ips", multiple=True, help="An address that it is for."),
        click.option("--dns", "names", multiple=True, help="A name of a host that it is for."),
    ):
        function = option(function)
    return function


@command.command(short_help="Make a key, and a request for a certificate.")
@click.argument("file")
@_named
def request(file: str, names: tuple[str, ...], ips: tuple[str, ...], uris: tuple[str, ...]) -> None:
    """Make a key, FILE.key, and a request for a certificate, FILE.csr, for another authority."""
    from cryptography import x509

    alternatives = _alternatives(names, ips, uris)
    key = _new_key(Path(f"{file}.key"))
    made = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(_common_name((*names, *uris, *ips)[0]))
        .add_extension(alternatives, critical=False)
        .sign(key, _hash())
    )
    new_file(f"{file}.csr", made.public_bytes(_pem()), for_all=True)
    line(f"{file}.csr")


@command.command(short_help="Issue a certificate by an authority.")
@click.argument("file")
@click.option("--authority", "folder", required=True, help="The folder of `mf certs authority`.")
@click.option("--request", "request_file", help="A request; without one, a key is made, too: FILE.key.")
@click.option("--days", type=click.IntRange(1, 3660), default=30, show_default=True)
@_named
def issue(
    file: str,
    folder: str,
    request_file: str | None,
    days: int,
    names: tuple[str, ...],
    ips: tuple[str, ...],
    uris: tuple[str, ...],
) -> None:
    """Issue a certificate, FILE.pem, for servers and clients, by a test authority."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.x509.oid import ExtendedKeyUsageOID as Use

    home = Path(folder)
    issuer = _certificates(home / "ca.pem")[0]
    public_of: Any = issuer.public_key()
    try:
        signing: Any = serialization.load_pem_private_key((home / "ca.key").read_bytes(), None)
        asked = None if request_file is None else x509.load_pem_x509_csr(Path(request_file).read_bytes())
    except ValueError as wrong:
        raise CommandError(f"the authority's key or the request cannot be read: {wrong}", FILES) from None
    if asked is not None:
        alternatives = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        subject, public = asked.subject, asked.public_key()
    else:
        alternatives = _alternatives(names, ips, uris)
        subject = _common_name((*names, *uris, *ips)[0])
        public = _new_key(Path(f"{file}.key")).public_key()
    made = (
        _dated(x509.CertificateBuilder(), days)
        .subject_name(subject)
        .issuer_name(issuer.subject)
        .public_key(public)
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([Use.SERVER_AUTH, Use.CLIENT_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public_of), critical=False)
    )
    _write(Path(f"{file}.pem"), made.sign(signing, _hash()))
    line(f"{file}.pem: valid for {days} days")


@command.command(short_help="Show the names and the days left of certificates.")
@click.argument("files", nargs=-1, required=True)
@click.option("--warn", type=int, default=14, show_default=True, help="End with 1 where fewer days are left.")
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def show(files: tuple[str, ...], warn: int, as_json: bool) -> int:
    """Show the certificates in files: their names, and the days that they have left."""
    now = datetime.datetime.now(datetime.UTC)
    rows: list[dict[str, Any]] = []
    for file in files:
        for each in _certificates(Path(file)):
            left = (each.not_valid_after_utc - now).total_seconds() / 86_400
            early = each.not_valid_before_utc > now
            rows.append(
                {
                    "file": file,
                    "subject": each.subject.rfc4514_string(),
                    "names": names_of(each),
                    "issuer": each.issuer.rfc4514_string(),
                    "expires": each.not_valid_after_utc.isoformat(),
                    "days": round(left, 1),
                    "state": "not valid yet"
                    if early
                    else "expired"
                    if left < 0
                    else "soon"
                    if left < warn
                    else "ok",
                }
            )
    if as_json:
        emit(rows)
    else:
        heads = ("file", "subject", "names", "days", "state")
        shown = [
            [
                str(row["file"]),
                str(row["subject"]),
                ", ".join(row["names"]),
                str(row["days"]),
                str(row["state"]),
            ]
            for row in rows
        ]
        table(heads, shown)
    return FAILED if any(row["state"] != "ok" for row in rows) else 0


def names_of(certificate: "x509.Certificate") -> list[str]:
    from cryptography import x509

    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return [str(each.value) for each in found]


def _certificates(path: Path) -> "list[x509.Certificate]":
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except ValueError as wrong:
        raise CommandError(f"'{path}' holds no certificate: {wrong}", FILES) from None


def _alternatives(
    names: tuple[str, ...], ips: tuple[str, ...], uris: tuple[str, ...]
) -> "x509.SubjectAlternativeName":
    from cryptography import x509

    try:
        found = [
            *map(x509.DNSName, names),
            *(x509.IPAddress(ipaddress.ip_address(each)) for each in ips),
            *map(x509.UniformResourceIdentifier, uris),
        ]
    except ValueError as wrong:
        raise CommandError(str(wrong), USAGE) from None
    if not found:
        raise CommandError("say what it is for: --dns, --ip or --uri", USAGE)
    return x509.SubjectAlternativeName(found)


def _common_name(name: str) -> "x509.Name":
    from cryptography import x509
    from cryptography.x509.oid import NameOID

    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])


def _new_key(path: Path) -> Any:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    plain = serialization.NoEncryption()
    new_file(path, key.private_bytes(_pem(), serialization.PrivateFormat.PKCS8, plain))
    return key


def _dated(builder: "x509.CertificateBuilder", days: int) -> "x509.CertificateBuilder":
    from cryptography import x509

    now = datetime.datetime.now(datetime.UTC)
    until = now + datetime.timedelta(days=days)
    number = x509.random_serial_number()
    return builder.serial_number(number).not_valid_before(now - _CLOCKS).not_valid_after(until)


def _write(path: Path, certificate: "x509.Certificate") -> None:
    new_file(path, certificate.public_bytes(_pem()), for_all=True)


def _pem() -> Any:
    from cryptography.hazmat.primitives.serialization import Encoding

    return Encoding.PEM


def _hash() -> Any:
    from cryptography.hazmat.primitives.hashes import SHA256

    return SHA256()
