"""A shop (tests/mf_tools/shop.mfidl) behind a controller and a relay with an HTTP door."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import mf
from mfidl.compiler import Exit, Targets, compile_files
from tests.http.asking import Door
from tests.interop.peers import PATIENCE, Server
from tests.mf_tools.conftest import HERE as SHOP
from tests.mf_tools.conftest import Peers


@pytest.fixture(scope="session")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    outcome = compile_files([str(SHOP / "shop.mfidl")], [], Targets(python=str(folder)))
    assert outcome.exit == Exit.OK, outcome.diagnostics
    return folder


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory, stubs: Path) -> Iterator[Peers]:
    """For the tests of a module, which share what it starts."""
    started = Peers(tmp_path_factory.mktemp("peers"), stubs)
    yield started
    started.close()


@pytest.fixture(scope="module")
def controller(peers: Peers) -> Server:
    return peers.controller()


@pytest.fixture(scope="module")
def shop(peers: Peers, controller: Server) -> Server:
    """It is registered at the controller."""
    started = peers.shop(controller=controller.address)
    with mf.Client(controller.address, wait_for_server=PATIENCE) as client:
        client.describe("shop.Shop", agent="maps", deadline=PATIENCE)
        client.describe("shop.News", topic=True, deadline=PATIENCE)
        client.describe("shop.Sales", agent="books", topic=True, deadline=PATIENCE)
    return started


def door_of(relay: Server) -> Door:
    """A relay says where its door is in its second line."""
    return Door(relay.line())


@pytest.fixture(scope="module")
def door(peers: Peers, controller: Server, shop: Server) -> Door:
    del shop
    return door_of(peers.relay(controller.address, "--http", "http://127.0.0.1:0"))
