"""Bridges to engines that ask for a login, over TLS: what is accepted, and the words of what is not. No
secret is logged.
"""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridge.conftest import Bridges
from tests.bridge.kafka import Kafka
from tests.bridge.kafka_door import Door
from tests.bridge.nats import Answer, Nats
from tests.bridge.test_words import said
from tests.etcd.cluster import eventually
from tests.interop.peers import Process
from tests.python.certificates import Authority

SECRET = "tea-at-five"
WHOLE = {"received": 500, "missed": 0, "in_order": True, "publishers": 1}


class Secured:
    """A NATS that is reached over TLS, and lets in the users of its configuration."""

    def __init__(self, folder: Path) -> None:
        self.authority = Authority(folder)
        self.secret = folder / "secret"
        self.secret.write_text(f"{SECRET}\n")
        self._folder = folder
        self._started: list[Nats] = []

    def start(self, authorization: Answer, shown: Answer, names: str = "", verify: bool = False) -> Nats:
        issued = self.authority.issue(names) if names else self.authority.issue()
        tls = {"cert_file": issued.certificate, "key_file": issued.key, "verify": verify}
        if verify:
            tls["ca_file"] = self.authority.file
        self.configure(authorization, tls)
        context = ssl.create_default_context(cafile=self.authority.file)
        context.check_hostname = not names
        if verify:
            own = self.authority.issue()
            context.load_cert_chain(own.certificate, own.key)
        nats = Nats(self._folder, "--config", str(self._folder / "nats.conf"), shown=shown, tls=context)
        self._started.append(nats)
        nats.make_stream()
        return nats

    def configure(self, authorization: Answer, tls: Answer | None = None) -> None:
        path = self._folder / "nats.conf"
        before = json.loads(path.read_text()) if tls is None else {"tls": tls}
        kept = {"jetstream": {"store_dir": str(self._folder / "nats")}}
        path.write_text(json.dumps({**before, **kept, "authorization": authorization}))

    def close(self) -> None:
        for each in self._started:
            each.close()


@pytest.fixture
def secured(tmp_path: Path) -> Iterator[Secured]:
    made = Secured(tmp_path)
    yield made
    made.close()


def passes(bridges: Bridges, engine: Nats | Kafka, *settings: str) -> None:
    """500 messages go into the engine, and from there to a subscriber."""
    publisher = bridges.publisher()
    into = bridges.into(engine, publisher.address, *settings)
    out = bridges.out_of(engine, *settings)
    subscriber = bridges.subscriber(out.address)
    assert publisher.ask("await 1")
    assert publisher.ask("publish books 0 500 20") == 500
    assert subscriber.ask("account 500") == WHOLE
    for each in (into, out):
        assert SECRET not in each.said()


def test_nats_over_tls_takes_a_token(bridges: Bridges, secured: Secured) -> None:
    nats = secured.start({"token": SECRET}, {"auth_token": SECRET})
    passes(bridges, nats, "--set", f"ca={secured.authority.file}", "--set", f"token=@{secured.secret}")


def test_nats_over_tls_takes_a_user_and_a_password(bridges: Bridges, secured: Secured) -> None:
    user = {"user": "bridge", "password": SECRET}
    nats = secured.start({"users": [user]}, {"user": "bridge", "pass": SECRET})
    shown = ("--set", "user=bridge", "--set", f"password=@{secured.secret}")
    passes(bridges, nats, "--set", f"ca={secured.authority.file}", *shown)


def test_nats_over_tls_takes_who_its_address_names_and_no_log_has_the_password(
    bridges: Bridges, secured: Secured
) -> None:
    user = {"user": "bridge", "password": SECRET}
    nats = secured.start({"users": [user]}, {"user": "bridge", "pass": SECRET})
    plain = nats.url
    nats.url = plain.replace("://", f"://bridge:{SECRET}@")
    passes(bridges, nats, "--set", f"ca={secured.authority.file}")
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address, "--set", f"ca={secured.authority.file}")
    assert publisher.ask("await 1")
    nats.kill()
    assert publisher.ask("publish books 0 1 20") == 1
    eventually(said(into, f"NATS at {plain} is away"), "NATS is missed")
    assert SECRET not in into.said()


def test_nats_takes_a_certificate_of_its_client(bridges: Bridges, secured: Secured) -> None:
    nats = secured.start({}, {}, verify=True)
    own = secured.authority.issue()
    shown = ("--set", f"certificate={own.certificate}", "--set", f"key={own.key}")
    passes(bridges, nats, "--set", f"ca={secured.authority.file}", *shown)


def ended(bridge: Process) -> str:
    assert bridge.wait() == 1
    return bridge.said()


def test_who_nats_does_not_let_in_is_told_so(bridges: Bridges, secured: Secured) -> None:
    nats = secured.start({"token": "another"}, {"auth_token": "another"})
    ca = ("--set", f"ca={secured.authority.file}")
    shown = (*ca, "--set", f"token=@{secured.secret}")
    out = bridges.out_of(nats, *shown)
    bridges.subscriber(out.address)  # before that it asks nothing of NATS
    for bridge in (bridges.refused("in", nats.url, *shown), out):
        words = ended(bridge)
        assert f"NATS at {nats.url} refuses the login" in words
        assert SECRET not in words
    half = bridges.refused("in", nats.url, *ca, "--set", "certificate=own.pem")
    assert "NATS takes a certificate and its key, not one of them" in ended(half)
    missing = bridges.refused("in", nats.url, *ca, "--set", "token=@nowhere")
    assert "the value of a setting cannot be read: nowhere" in ended(missing)


def test_credentials_that_change_while_a_bridge_runs_are_waited_for(
    bridges: Bridges, secured: Secured
) -> None:
    nats = secured.start({"token": SECRET}, {"auth_token": SECRET})
    settings = ("--set", f"ca={secured.authority.file}", "--set", f"token=@{secured.secret}")
    publisher = bridges.publisher()
    into = bridges.into(nats, publisher.address, *settings)
    out = bridges.out_of(nats, *settings)
    subscriber = bridges.subscriber(out.address)
    assert publisher.ask("await 1")
    assert publisher.ask("publish books 0 250 20") == 250
    assert subscriber.ask("account 250")["received"] == 250
    nats.kill()
    secured.configure({"token": "another"})
    nats.shown = {"auth_token": "another"}
    nats.start()
    publisher.begin("publish books 250 250 20")
    for each in (into, out):
        eventually(said(each, f"NATS at {nats.url} refuses the login"), "a bridge is refused")
    nats.kill()
    secured.configure({"token": SECRET})
    nats.shown = {"auth_token": SECRET}
    nats.start()
    assert publisher.end() == 250
    assert subscriber.ask("account 500") == WHOLE


@pytest.mark.parametrize("wrong", ["authority", "name"])
def test_a_nats_that_is_another_than_meant_is_told_and_gets_nothing(
    bridges: Bridges, secured: Secured, tmp_path: Path, wrong: str
) -> None:
    names = "DNS:elsewhere.example" if wrong == "name" else ""
    nats = secured.start({"token": SECRET}, {"auth_token": SECRET}, names)
    authority = secured.authority if wrong == "name" else Authority(tmp_path, "other")
    shown = ("--set", f"ca={authority.file}", "--set", f"token=@{secured.secret}")
    bridge = bridges.refused("in", nats.url, *shown)
    eventually(said(bridge, f"NATS at {nats.url} does not answer: SSL Error: "), "a failure of TLS is logged")
    assert {"authority": "unable to get local issuer", "name": "mismatch"}[wrong] in bridge.said()


@pytest.fixture
def door(tmp_path: Path) -> Iterator[tuple[Door, Authority]]:
    """To one broker of Kafka: for user bridge."""
    authority = Authority(tmp_path, "kafkas")
    shown = authority.issue()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown.certificate, shown.key)
    kafka = Kafka(tmp_path, brokers=1)
    made = Door(kafka.url, context, "bridge", SECRET)
    yield made, authority
    made.close()
    kafka.close()


def settings_of(authority: Authority, password: str) -> tuple[str, ...]:
    settings = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "bridge",
        "sasl.password": password,
        "ssl.ca.location": authority.file,
    }
    return tuple(word for key, value in settings.items() for word in ("--set", f"{key}={value}"))


class AtDoor:
    """The engine, as it is given to bridges."""

    def __init__(self, url: str) -> None:
        self.url = url


def test_kafka_over_tls_takes_a_user_and_a_password(
    bridges: Bridges, door: tuple[Door, Authority], tmp_path: Path
) -> None:
    at, authority = door
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    engine: object = AtDoor(at.url)
    passes(bridges, engine, *settings_of(authority, f"@{secret}"))  # type: ignore[arg-type]
    assert at.let_in > 0


def test_who_kafka_does_not_let_in_is_told_so(bridges: Bridges, door: tuple[Door, Authority]) -> None:
    at, authority = door
    bridge = bridges.refused("in", at.url, *settings_of(authority, "wrong"))
    words = ended(bridge)
    assert f"Kafka at {at.url} does not answer: Local: " in words
    assert "SASL" in words
    assert at.let_in == 0


def test_a_kafka_that_is_another_than_meant_is_told_and_gets_nothing(
    bridges: Bridges, door: tuple[Door, Authority], tmp_path: Path
) -> None:
    at, _ = door
    bridge = bridges.refused("in", at.url, *settings_of(Authority(tmp_path, "other"), SECRET))
    eventually(said(bridge, "SSL handshake failed"), "a failure of TLS is logged")
    assert at.let_in == 0


def test_a_setting_that_librdkafka_does_not_know_is_told(bridges: Bridges, kafka: Kafka) -> None:
    words = ended(bridges.refused("in", kafka.url, "--set", "speed=high"))
    assert 'Kafka: No such configuration property: "speed"' in words.replace('\\"', '"')
