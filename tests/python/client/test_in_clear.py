"""`tls` with an address in clear is an error: the user believes that the bytes are encrypted."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

import mf
from mf.flex.post import resolver_of
from tests.python.certificates import Authority

Open = Callable[[str, mf.Tls], None]


def blocking(where: str, tls: mf.Tls) -> None:
    mf.Client(where, mf.ClientOptions(tls=tls)).close()


def awaited(where: str, tls: mf.Tls) -> None:
    async def run() -> None:
        await mf.AsyncClient(where, mf.ClientOptions(tls=tls)).close()

    asyncio.run(run())


def of_a_node(where: str, tls: mf.Tls) -> None:
    async def run() -> None:
        resolver = resolver_of(where, tls)
        resolver.close()
        await resolver.closed()

    asyncio.run(run())


@pytest.fixture
def tls(tmp_path: Path) -> mf.Tls:
    return Authority(tmp_path).accepted


@pytest.mark.parametrize("open_", [blocking, awaited, of_a_node])
@pytest.mark.parametrize(
    ("where", "better"),
    [
        ("tcp://127.0.0.1:1", "tls://"),
        ("tls://127.0.0.1:1,tcp://127.0.0.1:2", "tls://"),
        ("relay://127.0.0.1:1", "relay\\+tls://"),
    ],
)
def test_a_client_with_tls_and_an_address_in_clear_is_an_error(
    open_: Open, where: str, better: str, tls: mf.Tls
) -> None:
    with pytest.raises(ValueError, match=f"nothing is encrypted there; write {better}"):
        open_(where, tls)


@pytest.mark.parametrize("open_", [blocking, awaited, of_a_node])
@pytest.mark.parametrize("where", ["tls://127.0.0.1:1", "mf+tls://127.0.0.1:1", "mf://127.0.0.1:1"])
def test_a_client_with_tls_may_have_an_encrypted_address_or_a_controller(
    open_: Open, where: str, tls: mf.Tls
) -> None:
    open_(where, tls)


@pytest.mark.parametrize("kind", [mf.Server, mf.AsyncServer])
def test_a_server_with_controller_tls_and_a_controller_in_clear_is_an_error(
    kind: type[mf.Server] | type[mf.AsyncServer], tls: mf.Tls
) -> None:
    where = "mf+tls://127.0.0.1:1,mf://127.0.0.1:2"
    with pytest.raises(ValueError, match=r"nothing is encrypted at the controller mf://127\.0\.0\.1:2"):
        kind(controller=where, options=mf.ServerOptions(controller_tls=tls))
