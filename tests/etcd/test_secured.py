"""An etcd that is reached over TLS, wants a certificate of each client, and has users."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import mf
from mf.controller._generated.mf.controller import ControllerClient
from tests.etcd.cluster import Etcd, Secured, eventually
from tests.interop.peers import BUILD, Peers
from tests.python.certificates import Authority
from tests.python.conftest import Recorder
from tests.python.echo import EchoClient

# etcd's gateway takes no certificates with a common name while it asks for users.
NAMELESS = "/O=MF test"
USER, PASSWORD = "keeper", "no secret: it is a test's"
SOON = mf.CallOptions(deadline=20.0)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def etcd(tmp_path: Path, authority: Authority) -> Iterator[Etcd]:
    shown = authority.issue(subject=NAMELESS)
    started = Etcd(tmp_path, 1, Secured(authority.file, shown.certificate, shown.key))
    started.demand_users(USER, PASSWORD, "mf/")
    yield started
    started.close()


class Keeper:
    """The options of a controller for such an etcd."""

    def __init__(self, etcd: Etcd, authority: Authority, folder: Path, password: str = PASSWORD) -> None:
        shown = authority.issue(subject=NAMELESS)
        secret = folder / "password"
        secret.write_text(password + "\n")
        self.store = f"etcds://{etcd.addresses}"
        own = ("--etcd-certificate", shown.certificate, "--etcd-key", shown.key)
        self.files = ("--etcd-ca", authority.file, *own)
        self.user = ("--etcd-user", USER, "--etcd-password-file", str(secret))
        self.shown = shown

    def controller(self, peers: Peers, *arguments: str) -> str:
        return peers.controller_at("tcp://127.0.0.1:0", *self.files, *arguments, store=self.store).address


def reason(controller: str) -> str:
    """Why its store is not what it should be; empty: it is."""
    with mf.Client("tcp" + controller.removeprefix("mf")) as client:
        status = ControllerClient(client).status(options=SOON)
    return "" if status.store.ok else status.store.reason


def test_controllers_share_it(etcd: Etcd, authority: Authority, peers: Peers, tmp_path: Path) -> None:
    keeper = Keeper(etcd, authority, tmp_path)
    one, other = (keeper.controller(peers, *keeper.user) for _ in range(2))
    with mf.Server(controller=one) as server:
        server.offer(Recorder(), agent="a")
        with mf.Client(other) as client:
            assert EchoClient(client).at("a").twice(21, options=SOON) == 42
        eventually(lambda: any("/p/" in key or "at/" in key for key in etcd.keys("mf/")), "etcd has it")


def test_who_is_refused_says_so_in_its_state(
    etcd: Etcd, authority: Authority, peers: Peers, tmp_path: Path
) -> None:
    keeper = Keeper(etcd, authority, tmp_path, password="another one")
    eventually_says(keeper.controller(peers, *keeper.user), "authentication failed")
    eventually_says(keeper.controller(peers), "permission denied")
    (tmp_path / "b").mkdir()
    stranger = Keeper(etcd, Authority(tmp_path, "stranger"), tmp_path / "b")
    eventually_says(stranger.controller(peers, *stranger.user), "certificate")


def eventually_says(controller: str, words: str) -> None:
    eventually(lambda: words in reason(controller), f"the store says {words!r}")


def test_the_contract_holds_there(etcd: Etcd, authority: Authority, tmp_path: Path) -> None:
    keeper = Keeper(etcd, authority, tmp_path)
    told = {"": f"{keeper.store}/mf", "_CA": authority.file, "_USER": USER, "_PASSWORD": PASSWORD}
    told |= {"_CERTIFICATE": keeper.shown.certificate, "_KEY": keeper.shown.key}

    done = subprocess.run(
        [BUILD / "tests" / "etcd" / "mf_etcd_tests"],
        env=os.environ | {f"MF_ETCD{name}": value for name, value in told.items()},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "[  PASSED  ]" in done.stdout


def test_one_whose_files_are_none_does_not_start(peers: Peers, tmp_path: Path) -> None:
    command = peers.controller_command("etcds://127.0.0.1:1")
    told = ("--listen", "tcp://127.0.0.1:0", "--etcd-ca", str(tmp_path / "no"))
    process = peers.refused_server([*command, *told])
    assert process.wait() == 1
    assert "authorities" in process.said()
