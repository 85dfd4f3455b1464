"""One lead for all controllers of a cluster: one server has it at a time, and no epoch is given twice,
whichever controller gives it and whichever is killed.
"""

import threading
from collections.abc import Callable

import mf
from tests.etcd.cluster import Etcd, eventually
from tests.interop.peers import Peers, Server
from tests.python.conftest import Recorder
from tests.python.echo import EchoServant

KILLS = 6


class Candidate:
    """A server at one controller that asks for the lead again whenever it has lost or given it up."""

    def __init__(self, controller: str, epochs: list[int]) -> None:
        self._server = mf.Server(controller=controller, options=mf.ServerOptions(drain_timeout=1.0))
        self._server.offer(Recorder(), agent="clock")
        self._server.start()
        self._epochs = epochs
        self._over = threading.Event()
        self._pass_on = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def pass_on(self) -> None:
        self._pass_on.set()

    def end(self) -> None:
        self._over.set()
        self._pass_on.set()
        self._server.stop()
        self._thread.join(60.0)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                with self._server.lead(EchoServant, "clock") as lead:
                    self._epochs.append(lead.epoch)
                    self._pass_on.wait(60.0)
                    self._pass_on.clear()
            except mf.Error:
                continue  # the server has stopped, or the lead was lost


def test_no_epoch_is_given_twice_over_two_controllers_under_kills(
    peers: Peers, start_etcd: Callable[[int], Etcd]
) -> None:
    store = f"etcd://{start_etcd(1).addresses}"
    both: list[Server] = [peers.controller(store=store) for _ in range(2)]
    ports = [int(each.address.rpartition(":")[2]) for each in both]
    epochs: list[int] = []
    candidates = [Candidate(each.address, epochs) for each in both for _ in range(2)]
    try:
        eventually(lambda: len(epochs) == 1, "one of them leads")
        for kill in range(KILLS):
            before = len(epochs)
            both[kill % 2].kill()
            for each in candidates:
                each.pass_on()
            eventually(lambda before=before: len(epochs) > before, "the next one leads")  # type: ignore[misc]
            both[kill % 2] = peers.controller(ports[kill % 2], store)
    finally:
        for each in candidates:
            each.end()

    assert len(set(epochs)) == len(epochs), epochs


def test_a_lead_whose_controller_is_killed_is_asked_for_at_another_one(
    peers: Peers, start_etcd: Callable[[int], Etcd]
) -> None:
    store = f"etcd://{start_etcd(1).addresses}"
    both = [peers.controller(store=store) for _ in range(2)]
    epochs: list[int] = []
    candidate = Candidate(",".join(each.address for each in both), epochs)
    try:
        eventually(lambda: len(epochs) == 1, "it leads")
        both[0].kill()
        candidate.pass_on()
        eventually(lambda: len(epochs) == 2, "it leads again")
    finally:
        candidate.end()

    assert epochs[1] > epochs[0]
