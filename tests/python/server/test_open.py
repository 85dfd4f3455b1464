"""Servers that would listen beyond this host without knowing their peers."""

from pathlib import Path

import pytest

import mf
from tests.python.certificates import Authority


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


BEYOND = ("tcp://0.0.0.0:0", "tcp://[::]:0", "tcp://127.evil.example:0", "unix:/run/x,tcp://10.0.0.1:7401")


@pytest.mark.parametrize("kind", [mf.Server, mf.AsyncServer])
@pytest.mark.parametrize("listen", BEYOND)
def test_it_is_refused(kind: type[mf.Server] | type[mf.AsyncServer], listen: str) -> None:
    with pytest.raises(ValueError, match=r"every program that reaches tcp://.* could use this server"):
        kind(listen)


def test_certificates_of_the_server_alone_are_not_enough(authority: Authority) -> None:
    with pytest.raises(ValueError, match=r"tls\.ca"):
        mf.Server("tls://0.0.0.0:0", tls=authority.issue())


def test_proofs_of_clients_are_enough_only_where_nothing_is_in_clear(authority: Authority) -> None:
    shown = authority.issue()
    proven = mf.Tls(certificate=shown.certificate, key=shown.key, ca=authority.file)
    mf.Server("tls://0.0.0.0:0", tls=proven)
    with pytest.raises(ValueError, match=r"reaches tcp://0\.0\.0\.0:7401 could use"):
        mf.Server("tls://0.0.0.0:0,tcp://0.0.0.0:7401", tls=proven)


@pytest.mark.parametrize(
    "listen", ["tcp://127.0.0.1:0", "tcp://127.8.9.10:0", "tcp://[::1]:0", "tcp://localhost:0"]
)
def test_this_host_needs_nothing(listen: str) -> None:
    mf.Server(listen)


def test_what_the_program_decides_itself_is_enough(tmp_path: Path) -> None:
    mf.Server("tcp://0.0.0.0:0", open=True)
    mf.Server("tcp://0.0.0.0:0", authorize=lambda *_: False)
    mf.Server("tcp://0.0.0.0:0", authenticate=lambda *_: False)
    rules = tmp_path / "rules"
    rules.write_text("allow * call *\n")
    with pytest.raises(ValueError, match="could use this server"):
        mf.Server("tcp://0.0.0.0:0", access=str(rules))
