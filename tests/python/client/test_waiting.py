"""How long a call waits for a server that nobody has offered yet, on a clock of our own."""

import pytest

import mf
from mf.client import routes
from mf.client.routes import Router
from mf.core.service import ServiceInfo
from mf.link.pool import Pool
from mf.link.resolver import Resolver, View


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


class Story(Resolver):
    """What is known at which second. Waiting moves the clock to the next change."""

    def __init__(self, clock: Clock, views: dict[float, View]) -> None:
        self._clock = clock
        self._views = views

    def view(self, service: str) -> View:  # noqa: ARG002 - of one service
        return self._views[max(at for at in self._views if at <= self._clock.now)]

    def wait(self, service: str, old: View, timeout: float) -> View:  # noqa: ARG002
        changes = [at for at in self._views if at > self._clock.now]
        self._clock.now = min([*changes, self._clock.now + timeout])
        return self.view(service)

    def close(self) -> None:
        pass


def test_a_wait_for_a_server_counts_from_the_controllers_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(routes, "monotonic", clock)
    nobody = View({}, reached=False, trouble="the controller is away")
    story = Story(clock, {1000.0: nobody, 1004.0: View({})})
    router = Router(story, Pool(), wait_for_server=5.0)
    service = ServiceInfo(name="a.S", agent=None, descriptor="", fingerprint=bytes(16), methods=())

    with pytest.raises(mf.Error, match=r"no server offers a\.S"):
        router.find(service, None, 1030.0)

    assert clock.now == pytest.approx(1009.0)
