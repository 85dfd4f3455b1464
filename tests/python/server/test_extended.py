"""A servant of a service that extends others: offered as all of them, limited and taken back as one."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.core.service import services_of
from mf.server.offer import Announced, Offers
from mfidl.compiler import check
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate

SCHEMA = Path(__file__).resolve().parents[2] / "interop" / "extending.mfidl"
ALL = ["extending.Vault", "extending.Backup", "extending.Store"]


@pytest.fixture(scope="module")
def stubs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("stubs")
    program = check([str(SCHEMA)]).program
    assert program is not None
    for file in generate(program, EmitOptions("", "0")):
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("extending")
    sys.path.remove(str(folder))


def vault(stubs: Any) -> Any:
    names = ("put", "get", "stats", "scan", "restore", "is_locked")
    return type("Vault", (stubs.VaultServant,), dict.fromkeys(names, lambda *_: None))()


def test_it_serves_its_own_service_first_and_then_those_above(stubs: Any) -> None:
    assert [each.name for each in services_of(vault(stubs))] == ALL


def test_controllers_are_told_of_all_its_services(stubs: Any) -> None:
    offers = Offers()
    offers.add(vault(stubs), "a", False, None, Announced(weight=3))

    known = {each.service.name: (each.agent, each.announced.weight) for each in offers.made_known()}
    assert known == dict.fromkeys(ALL, ("a", 3))


def test_one_limit_holds_for_a_method_under_all_names(stubs: Any) -> None:
    offers = Offers()
    offers.add(vault(stubs), "a", False, {"get": mf.Limit(1)})

    gates = [each.handlers["get"].gate for each in offers.all()]
    assert len(gates) == 3
    assert gates[0] is not None
    assert all(each is gates[0] for each in gates)


def test_another_servant_of_an_extended_service_is_refused_beside_it(stubs: Any) -> None:
    offers = Offers()
    offers.add(vault(stubs), "a", False)
    names = ("put", "get", "stats", "scan")
    store = type("Store", (stubs.StoreServant,), dict.fromkeys(names, lambda *_: None))()

    with pytest.raises(ValueError, match=r"extending\.Store is offered already for agent 'a'"):
        offers.add(store, "a", False)
    offers.add(store, "b", False)
    with pytest.raises(ValueError, match=r"extending\.Store is offered already for agent 'b'"):
        offers.add(vault(stubs), "b", False)
    assert sorted(each.service.name for each in offers.all() if each.agent == "b") == ["extending.Store"]


def test_all_its_services_are_taken_back_together_and_no_others(stubs: Any) -> None:
    offers = Offers()
    offers.add(vault(stubs), "a", False)
    offers.add(vault(stubs), "b", False)

    offers.remove("extending.Vault", "a")

    assert [each.agent for each in offers.all()] == ["b", "b", "b"]


def test_a_light_takes_it_back_from_all_its_names(stubs: Any) -> None:
    light = mf.Light()
    light.offer(vault(stubs), "a")
    light.withdraw(stubs.VAULT_SERVICE, "a")

    with pytest.raises(mf.Error) as caught:
        stubs.StoreClient(light).at("a").get("x")
    assert caught.value.code is mf.Code.UNKNOWN_SERVICE
