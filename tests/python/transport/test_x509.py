"""The fields of certificates and of lists of revoked ones that are read without OpenSSL."""

import ssl
from pathlib import Path

import pytest

from mf.transport import x509
from tests.python.certificates import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("x509"))


def der(path: str) -> bytes:
    return ssl.PEM_cert_to_DER_cert(Path(path).read_text())


def test_a_certificate_names_its_issuer_as_the_authority_names_itself(authority: Authority) -> None:
    made = authority.issue()
    leaf, root = x509.named(der(made.certificate)), x509.named(der(authority.file))
    assert leaf.issuer == root.subject == root.issuer
    assert leaf.subject != leaf.issuer
    assert int.from_bytes(leaf.serial, "big") == int(authority.serial(made), 16)


def test_a_list_has_the_serial_numbers_that_were_revoked(authority: Authority) -> None:
    made = [authority.issue() for _ in range(3)]
    listed = x509.revoked(Path(authority.revoke(*made[:2])).read_bytes())
    assert listed == {x509.named(der(each.certificate)).serial for each in made[:2]}


def test_an_empty_list_and_several_in_one_file(authority: Authority, tmp_path: Path) -> None:
    empty = Path(authority.revoke()).read_bytes()
    assert x509.revoked(empty) == frozenset()
    other = Authority(tmp_path, "other")
    revoked = other.issue()
    both = empty + Path(other.revoke(revoked)).read_bytes()
    assert x509.revoked(both) == {x509.named(der(revoked.certificate)).serial}


def test_what_is_cut_short_or_is_no_list_is_refused(authority: Authority) -> None:
    whole = der(authority.issue().certificate)
    for size in range(len(whole)):
        with pytest.raises(ValueError, match="DER"):
            x509.named(whole[:size])
    for text in (b"", b"-----BEGIN X509 CRL-----\n", Path(authority.file).read_bytes()):
        with pytest.raises(ValueError, match="no list"):
            x509.revoked(text)
    with pytest.raises(ValueError, match=r"DER|damaged"):
        x509.revoked(b"-----BEGIN X509 CRL-----\nMAMCAQ==\n-----END X509 CRL-----\n")
