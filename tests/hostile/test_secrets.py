"""No secret that a deployment holds comes into a log, an error or `ps`, whatever goes wrong around it."""

import logging
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.controller._generated.mf.controller import Filter, KeyKind
from mf.controller._generated.mf.controller._client import ControllerClient
from tests.interop.peers import BUILD, Peers
from tests.python.certificates import Authority
from tests.python.conftest import Recorder, eventually
from tests.python.echo import EchoClient

AUTHENTICATION = b"planted-authentication-9f1c"
METADATA = "planted-metadata-77aa"
OPTIONS = mf.CallOptions(deadline=10.0)


class Told:
    """All that can be read from outside: logs, output, failures, and the arguments of processes."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    def add(self, where: str, text: str) -> None:
        self.texts.append((where, text))

    def fails(self, action: Callable[[], Any]) -> None:
        """Its failure, with all that a program would print of it."""
        with pytest.raises((mf.Error, ValueError, mf.TokenError)) as raised:
            action()
        self.add(repr(action), f"{raised.value} {raised.value!r} {raised.getrepr()}")

    def run(self, *command: str, says: str = "") -> str:
        done = subprocess.run(command, input=says, capture_output=True, text=True, timeout=60, check=False)
        self.add(" ".join(command), done.stdout + done.stderr)
        return done.stdout


def body_of(pem: str) -> list[str]:
    """The lines of a private key that are secret."""
    return [line for line in Path(pem).read_text().splitlines() if line and "-----" not in line]


def test_nothing_that_is_secret_is_told(
    peers: Peers, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "mf")
    told, program = Told(), str(BUILD / "mf-controller")
    authority = Authority(tmp_path)
    shown = authority.issue()
    key, others_key = str(tmp_path / "tokens"), str(tmp_path / "others")
    for each in (key, others_key):
        told.run(program, "token", "key", each)

    def token(by: str, audience: str) -> str:
        made = str(tmp_path / f"{Path(by).name}-{audience}.token")
        told.run(
            program,
            "token",
            "new",
            "--key",
            by,
            "--sub",
            "web",
            "--aud",
            audience,
            "--for",
            "1h",
            "--out",
            made,
        )
        return made

    good, of_others, for_others = token(key, "here"), token(others_key, "here"), token(key, "there")
    rules = tmp_path / "access.conf"
    rules.write_text("allow token:web watch demo.*\n")
    shows = ("--certificate", shown.certificate, "--key", shown.key, "--log-level", "debug")
    tokens = ("--token-keys", f"{key}.pub", "--token-audience", "here", "--access", str(rules))
    controller = peers.controller_at("tls://127.0.0.1:0", *shows, *tokens)
    where = controller.address.replace("mf+tls", "tls")
    how: dict[str, Any] = {"tls": authority.accepted, "authentication": AUTHENTICATION}

    def watches(credential: str, name: str, at: str = where, **more: Any) -> None:
        with mf.Client(at, credential=credential, **{**how, **more}) as client:
            metadata = {"authorization": METADATA}
            options = mf.CallOptions(deadline=10.0, metadata=metadata)
            ControllerClient(client).find(Filter(KeyKind.service, name, None), options=options)

    watches(good, "demo.*")
    told.fails(lambda: watches(good, "secret.*"))
    for wrong in (of_others, for_others, key, shown.key):
        told.fails(lambda: watches(wrong, "demo.*"))  # noqa: B023 - called at once
    told.fails(lambda: watches(good, "demo.*", "tcp://127.0.0.1:1"))  # in clear
    told.fails(lambda: watches(good, "demo.*", tls=mf.Tls(ca=shown.key)))
    told.fails(lambda: mf.TokenKeys.read(key))

    served = mf.ServerOptions(
        tls=mf.Tls(certificate=shown.certificate, key=shown.key),
        token_keys=f"{key}.pub",
        token_audience="here",
        authorize=lambda *_: False,
    )
    with mf.Server("tls://127.0.0.1:0", options=served) as server:
        server.offer(Recorder(), agent="a")
        for each in (good, of_others, for_others):

            def call(credential: str = each) -> int:
                with mf.Client(server.address, credential=credential, **how) as client:
                    return EchoClient(client).at("a").twice(1, options=OPTIONS)

            told.fails(call)
        told.add("options", repr(served) + repr(mf.ClientOptions(credential=mf.Secret("x"), **how)))
        told.add("hello", repr(mf.PeerHello(AUTHENTICATION, "web", "tcp://127.0.0.1:1")))
        access = mf.TopicAccess("demo.News", "*", "tcp://127.0.0.1:1", authentication=AUTHENTICATION)
        told.add("access", repr(access))
        told.add("ps", subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True).stdout)

    for each in (good, of_others, for_others):
        told.run(program, "token", "show", each, "--keys", f"{key}.pub")
    altered = Path(good).read_text().strip()[:-8] + "AAAAAAAA"
    told.run(program, "token", "show", "--keys", f"{key}.pub", says=altered + "\n")
    for wrong in (key, shown.key):  # a private key in the place of public ones, or of a token
        told.run(program, "token", "show", good, "--keys", wrong)
        told.run(program, "token", "show", wrong, "--keys", f"{key}.pub")
        told.run(program, "token", "new", "--key", good, "--sub", "x", "--aud", "y", "--for", "1h")
        command = [program, "--listen", "tls://127.0.0.1:0", *shows, "--token-keys", wrong]
        told.run(*command, "--token-audience", "here")
    assert eventually(lambda: "access_denied" in controller.said())
    told.add("controller", controller.said())
    told.add("python", caplog.text)

    planted = {
        "the token": [Path(each).read_text().strip() for each in (good, of_others, for_others)],
        "the signing key": body_of(key) + body_of(others_key),
        "the key of the certificate": body_of(shown.key),
        "authentication": [AUTHENTICATION.decode()],
        "metadata": [METADATA],
    }
    # The claims of a token are no secret, and its beginning says them: what proves it is its end.
    planted["the token"] = [each[-40:] for each in planted["the token"]] + [altered[-60:-8]]
    assert len(told.texts) > 20
    for name, secrets in planted.items():
        for secret in secrets:
            assert len(secret) >= 10 or name == "the signing key"
            for place, text in told.texts:
                assert secret not in text, f"{name} is shown by: {place[:200]}"
