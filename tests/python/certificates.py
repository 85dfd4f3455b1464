"""Authorities and certificates for tests of TLS, made at run time."""

import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import mf


class Authority:
    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder / name
        self._folder.mkdir()
        self._issued = 0
        self.file = self._path("ca.pem")
        extension = ("-addext", "keyUsage=critical,keyCertSign,cRLSign")
        self._run("req", "-x509", *self._new_key("ca", f"/CN={name}"), *extension, "-out", self.file)

    @property
    def accepted(self) -> mf.Tls:
        """The options of a client that accepts certificates of this authority, and has none itself."""
        return mf.Tls(ca=self.file)

    def issue(
        self,
        names: str = "DNS:localhost,IP:127.0.0.1",
        days: int = 1,
        ca: str = "",
        subject: str = "",
        extensions: str = "",
        seconds: int = 0,
    ) -> mf.Tls:
        """A new certificate and its key; with -1 day it has expired. `subject` replaces the CN. `extensions`:
        a file of openssl's with further ones. `seconds`: it is valid for so long instead."""
        self._issued += 1
        number = str(self._issued)
        subject = subject or f"/CN=MF test {number}"
        made = mf.Tls(ca=ca, certificate=self._path(f"{number}.pem"), key=self._path(f"{number}.key"))
        request = self._path(f"{number}.csr")
        named: tuple[str, ...] = ()
        if names:  # by a file, since there may be more of them than a command line takes
            config = Path(self._path(f"{number}.conf"))
            config.write_text(f"[req]\ndistinguished_name=dn\n[dn]\n[named]\nsubjectAltName={names}\n")
            named = ("-config", str(config), "-reqexts", "named")
        self._run("req", "-new", *self._new_key(number, subject), *named, "-out", request)
        if seconds:
            self._sign_for(seconds, request, made.certificate)
            return made
        signed = ("-CA", self.file, "-CAkey", self._path("ca.key"), "-days", str(days))
        copied = ("-extfile", extensions) if extensions else ("-copy_extensions", "copy")
        self._run("x509", "-req", "-in", request, *signed, *copied, "-out", made.certificate)
        return made

    def _sign_for(self, seconds: int, request: str, out: str) -> None:
        config, index = self._folder / "short.cnf", self._folder / "short"
        config.write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={index}\nnew_certs_dir={self._folder}\ndefault_md=sha256\n"
            f"copy_extensions=copy\nserial={self._folder}/none\nunique_subject=no\npolicy=p\n[p]\ncommonName=supplied\n"
        )
        index.touch()
        end = datetime.now(UTC) + timedelta(seconds=seconds)
        times = ("-startdate", "250101000000Z", "-enddate", f"{end:%y%m%d%H%M%S}Z")
        signed = ("-cert", self.file, "-keyfile", self._path("ca.key"), "-rand_serial", "-notext", "-batch")
        self._run("ca", "-config", str(config), *signed, *times, "-in", request, "-out", out)

    def revoke(self, *revoked: mf.Tls) -> str:
        """Writes a list that names these certificates as revoked, in the place of the earlier one. Its
        path."""
        config, index = self._folder / "lists.cnf", self._folder / "index"
        config.write_text(
            f"[ca]\ndefault_ca=d\n[d]\ndatabase={index}\ndefault_md=sha256\ndefault_crl_days=1\n"
        )
        dates = "300101000000Z\t250101000000Z"
        entries = [f"R\t{dates}\t{self.serial(each)}\tunknown\t/CN=x\n" for each in revoked]
        index.write_text("".join(entries))
        signed = ("-cert", self.file, "-keyfile", self._path("ca.key"))
        self._run("ca", "-gencrl", "-config", str(config), *signed, "-out", self._path("new.crl"))
        made = self._folder / "revoked.crl"
        (self._folder / "new.crl").rename(made)
        return str(made)

    def serial(self, of: mf.Tls) -> str:
        """In hexadecimal digits."""
        command = ["openssl", "x509", "-in", of.certificate, "-noout", "-serial"]
        shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
        return shown.strip().removeprefix("serial=")

    def _path(self, name: str) -> str:
        return str(self._folder / name)

    def _new_key(self, name: str, subject: str) -> tuple[str, ...]:
        kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc")
        return (*kind, "-keyout", self._path(f"{name}.key"), "-subj", subject)

    def _run(self, *command: str) -> None:
        subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=30)


def expire_after(use: Callable[[int], bool]) -> None:
    """Makes use of a certificate that is valid for the given seconds, and returns when it has expired. A
    machine that is too slow to use it in time (False) gets another one, which is valid for longer."""
    seconds = 3
    while True:
        over = time.time() + seconds + 1
        if use(seconds):
            break
        seconds *= 2
    while time.time() < over:
        time.sleep(0.05)
