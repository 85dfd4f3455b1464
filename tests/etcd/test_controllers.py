"""Several controllers on one etcd: any of them answers and pushes, whatever happens to the others and to
etcd, and no direct call fails meanwhile.
"""

from collections.abc import Callable

import pytest

from tests.etcd.cluster import Etcd, eventually
from tests.interop.peers import LANGUAGES, Line, Peers, Server

StartEtcd = Callable[[int], Etcd]


def right(answer: list[Line]) -> bool:
    return bool(answer) and all(each["ok"] for each in answer)


def controllers(peers: Peers, etcd: Etcd, count: int = 2) -> list[Server]:
    return [peers.controller(store=f"etcd://{etcd.addresses}") for _ in range(count)]


def all_of(each: list[Server]) -> str:
    return ",".join(one.address for one in each)


def runs(etcd: Etcd) -> set[str]:
    """Those of controllers that have registered something."""
    return {key.split("/")[2] for key in etcd.keys("mf/at/")}


def registrations(etcd: Etcd) -> int:
    """How many there are, a process at two controllers counting twice."""
    return sum(key.count("/") == 4 for key in etcd.keys("mf/at/"))


def calls_went_well(calling_ends: list[Line]) -> None:
    calls = calling_ends[0]
    assert calls["failed"] == 0, calls
    assert calls["calls"] > 0, calls


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_what_is_registered_at_one_is_found_and_pushed_at_the_other(
    peers: Peers, start_etcd: StartEtcd, client: str, server: str
) -> None:
    one, other = controllers(peers, start_etcd(1))
    peers.server(server, "--controller", one.address, "--room", "red")
    calling = peers.client(client, other.address)
    assert right(calling.ask("who red"))

    calling.tell("who blue")  # it waits
    peers.server(server, "--controller", one.address, "--room", "blue")

    assert right(calling.answer())


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_servers_and_clients_of_several_controllers_go_on_with_those_that_are_left(
    peers: Peers, start_etcd: StartEtcd, client: str, server: str
) -> None:
    both = controllers(peers, start_etcd(1))
    where = all_of(both)
    peers.server(server, "--controller", where, "--room", "red")
    calling = peers.client(client, where)
    assert right(calling.ask("who red"))
    calling.ask("begin red")

    both[0].kill()
    peers.server(server, "--controller", where, "--room", "blue")
    found_by_old = calling.ask("who blue")
    found_by_new = peers.client(client, where).ask("who red")

    assert right(found_by_old)
    assert right(found_by_new)
    calls_went_well(calling.ask("end"))


def test_what_a_killed_controller_had_stays_for_its_lease_and_moves_to_the_one_that_its_servers_find(
    peers: Peers, start_etcd: StartEtcd
) -> None:
    etcd = start_etcd(1)
    one, other = controllers(peers, etcd)
    port = int(one.address.rpartition(":")[2])
    server = peers.server("cpp", "--controller", one.address, "--room", "red")
    calling = peers.client("cpp", other.address)
    assert right(calling.ask("who red"))
    calling.ask("begin red")
    (killed,) = runs(etcd)

    one.kill()
    assert right(peers.client("python", other.address).ask("who red")), "its lease is not over"
    again = peers.controller(port, f"etcd://{etcd.addresses}")
    eventually(lambda: bool(runs(etcd) - {killed}) and killed not in runs(etcd), "its lease is over")

    assert right(peers.client("python", other.address).ask("who red")), server.said() + again.said()
    calls_went_well(calling.ask("end"))


def test_the_entries_of_a_server_that_is_killed_are_gone_at_every_controller(
    peers: Peers, start_etcd: StartEtcd
) -> None:
    etcd = start_etcd(1)
    both = controllers(peers, etcd)
    server = peers.server("cpp", "--controller", all_of(both), "--room", "red")
    peers.server("cpp", "--controller", both[0].address, "--room", "blue")
    assert right(peers.client("cpp", both[1].address).ask("who red"))
    eventually(lambda: registrations(etcd) == 3, "red is at both, blue at one")

    server.kill()

    eventually(lambda: registrations(etcd) == 1, "only blue is left")


@pytest.mark.parametrize("client", LANGUAGES)
def test_no_direct_call_fails_when_the_leader_of_etcd_is_killed_and_servers_register_again(
    peers: Peers, start_etcd: StartEtcd, client: str
) -> None:
    etcd = start_etcd(3)
    one, other = controllers(peers, etcd)
    peers.server("cpp", "--controller", one.address, "--room", "red")
    calling = peers.client(client, other.address, wait_for_server=30.0)
    assert right(calling.ask("who red"))
    calling.ask("begin red")

    etcd.leader().kill()
    peers.server("python", "--controller", one.address, "--room", "blue")

    assert right(calling.ask("who blue")), one.said() + other.said()
    calls_went_well(calling.ask("end"))


def test_a_node_of_etcd_that_is_paused_is_left_for_another_one(peers: Peers, start_etcd: StartEtcd) -> None:
    etcd = start_etcd(3)
    one, other = controllers(peers, etcd)
    peers.server("cpp", "--controller", one.address, "--room", "red")
    calling = peers.client("cpp", other.address, wait_for_server=30.0)
    assert right(calling.ask("who red"))
    calling.ask("begin red")

    etcd.nodes[0].freeze()  # both controllers are with the first
    peers.server("cpp", "--controller", one.address, "--room", "blue")
    found = calling.ask("who blue")
    etcd.nodes[0].thaw()
    peers.server("cpp", "--controller", other.address, "--room", "green")

    assert right(found), one.said() + other.said()
    assert right(peers.client("cpp", one.address, wait_for_server=30.0).ask("who green"))
    calls_went_well(calling.ask("end"))
    assert "does not answer" in one.said()


def test_without_etcd_each_controller_serves_what_it_knows_and_says_so(
    peers: Peers, start_etcd: StartEtcd
) -> None:
    etcd = start_etcd(1)
    one, other = controllers(peers, etcd)
    peers.server("cpp", "--controller", one.address, "--room", "red")
    calling = peers.client("cpp", other.address, wait_for_server=30.0)
    assert right(calling.ask("who red"))
    calling.ask("begin red")

    etcd.nodes[0].kill()
    for each in (one, other):
        eventually(lambda each=each: "store_degraded" in each.said(), "it says so")  # type: ignore[misc]
    peers.server("cpp", "--controller", one.address, "--room", "blue")
    served_without = peers.client("cpp", one.address).ask("who blue")
    known_without = peers.client("cpp", other.address).ask("who red")
    etcd.start()
    found = calling.ask("who blue")

    assert right(served_without)
    assert right(known_without)
    assert right(found), one.said() + other.said()
    calls_went_well(calling.ask("end"))
    for each in (one, other):
        assert each.said().count("store_degraded") == 1, each.said()
        eventually(lambda each=each: "store_recovered" in each.said(), "it says so")  # type: ignore[misc]


def test_a_controller_that_was_paused_while_etcd_forgot_the_past_reads_all_anew(
    peers: Peers, start_etcd: StartEtcd
) -> None:
    etcd = start_etcd(1)
    one, other = controllers(peers, etcd)
    first = peers.server("cpp", "--controller", one.address, "--room", "red")
    assert right(peers.client("cpp", other.address).ask("who red"))

    other.freeze()
    peers.server("cpp", "--controller", one.address, "--room", "blue")
    first.kill()
    eventually(lambda: registrations(etcd) == 1, "red is gone, and blue is there")
    etcd.nodes[0].kill()  # so that the watch has to begin again
    etcd.start()
    etcd.compact()
    other.thaw()

    assert right(peers.client("cpp", other.address, wait_for_server=30.0).ask("who blue")), other.said()
    peers.server("cpp", "--controller", other.address, "--room", "red")
    assert right(peers.client("cpp", one.address, wait_for_server=30.0).ask("who red")), one.said()


def test_keys_that_somebody_removes_from_etcd_are_told_and_written_again(
    peers: Peers, start_etcd: StartEtcd
) -> None:
    etcd = start_etcd(1)
    (one,) = controllers(peers, etcd, 1)
    peers.server("python", "--controller", one.address, "--room", "red")
    eventually(lambda: registrations(etcd) == 1, "it is registered")
    before = set(etcd.keys("mf/at/"))

    etcd.remove_all()

    eventually(lambda: "store_degraded" in one.said(), "the one that had written them says so")
    assert "were removed from etcd; it writes them again" in one.said()
    eventually(lambda: set(etcd.keys("mf/at/")) >= before, "they are there again")
    eventually(lambda: "store_recovered" in one.said(), "and it says so")
    (other,) = controllers(peers, etcd, 1)
    assert right(peers.client("python", other.address, wait_for_server=30.0).ask("who red")), other.said()
