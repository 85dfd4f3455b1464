"""`mf audit gather`: a bundle without secrets, in which names are numbers."""

import json
import stat
import tarfile
from pathlib import Path

import pytest

from mf_tools.redacting import Redacted
from tests.interop.peers import Server
from tests.mf_tools.conftest import Tool


def parts(path: str) -> dict[str, str]:
    found: dict[str, str] = {}
    with tarfile.open(path) as archive:
        for entry in archive.getmembers():
            file = archive.extractfile(entry)
            assert file is not None
            found[entry.name.removeprefix("mf-audit/")] = file.read().decode()
    return found


TOKEN = "v4.public.eyJzdWIiOiJ3ZWItMSIsImF1ZCI6InNob3AuU2hvcCJ9AAAAAAAAAAAA"
KEY = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1h\n-----END PRIVATE KEY-----\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"shown {TOKEN} here", "shown (left-out) here"),
        (f"a\n{KEY}b", "a\n(left-out)\nb"),
        ("-----BEGIN EC PRIVATE KEY-----\ncut", "(left-out)"),
        ("k4.secret.AAAAAAAAAAAAAAAA", "(left-out)"),
        ("Authorization: Bearer abcdefgh", "Authorization: (left-out)"),
        ('password = "hush hush"', "password = (left-out)"),
        ("'api_key': 'hush', x", "'api_key': (left-out), x"),
        ("client_secret=hush;a=1", "client_secret=(left-out);a=1"),
        ("token = /etc/mf/web.token", "token = /etc/mf/web.token"),
        ('token_file = "/run/secrets/web"', 'token_file = "/run/secrets/web"'),
        ("Authorization: Token hunter2\nHost: x", "Authorization: (left-out)\nHost: x"),
        ('authorization: Digest username="a", response="hunter2"', "authorization: (left-out)"),
        ("Cookie: a=1; session=hunter2", "Cookie: (left-out)"),
        ('{"authorization": "Token hunter2", "a": 1}', '{"authorization": (left-out), "a": 1}'),
        ('tokens = ["hunter1", "hunter2"]\na = 1', "tokens = (left-out)\na = 1"),
        ('"secrets": {"a": "hunter1", "b": "hunter2"}, 1', '"secrets": (left-out), 1'),
        (r'{"msg": "{\"token\":\"hunter2\"}"}', r'{"msg": "{\"token\":(left-out)}"}'),
        (r'"{\"token\":\"a\\\"hunter2\"}"', r'"{\"token\":(left-out)}"'),
        ('secret = """\nhunter2\n"""\na = 1', "secret = (left-out)\na = 1"),
        ("token: |\n  hunter2\n  hunter3\na: 1", "token: (left-out)\na: 1"),
        ("tokens:\n- hunter1\n- hunter2\na: 1", "tokens:(left-out)\na: 1"),
        ("secret:\n  a: hunter1\n  b: hunter2\na: 1", "secret:(left-out)\na: 1"),
        (r'password = "a\"hunter2" b', "password = (left-out) b"),
        ('password = "hunter2 cut\nb', "password = (left-out)\nb"),
        ("password=a,hunter2, b", "password=(left-out), b"),
        ("password:hunter2", "password:(left-out)"),
        ('password = "/hunter2"', "password = (left-out)"),
        ('password = "~hunter2"', "password = (left-out)"),
        ('password = ".hunter2"', "password = (left-out)"),
        ("pwd=hunter2 db.auth = hunter2", "pwd=(left-out) db.auth = (left-out)"),
        ("author=ada passes=3 tokenizer", "author=ada passes=3 tokenizer"),
        ("http://127.0.0.1/a?sig=hunter2&b=1", "http://127.0.0.1/a?sig=(left-out)&b=1"),
        ("('token', 'hunter2')", "('token', (left-out))"),
        ("redis://:hunter2@db", "redis://(left-out)@host-1"),
        ("etcd://root:hun@ter2@host", "etcd://(left-out)@host-1"),
        ("db7.corp.example:5432 refused", "host-1:5432 refused"),
        ("server.py:41 access.conf:5 12:30:45", "server.py:41 access.conf:5 12:30:45"),
        ("fd00:12::7 and fd00:12::7: refused", "address-1 and address-1: refused"),
        ("::1 ::ffff:10.0.0.7 mf::Server", "::1 address-1 mf::Server"),
        ("http://web:hush@db.example/x", "http://(left-out)@host-1/x"),
        (
            "peer=tcp://10.0.0.7:41022 identity=dns:a.example",
            "peer=tcp://address-1:41022 identity=identity-dns-1",
        ),
        ("10.0.0.7 10.0.0.8 10.0.0.7", "address-1 address-2 address-1"),
        ("tcp://[2001:db8::1]:7401 tcp://[::1]:1", "tcp://[address-1]:7401 tcp://[::1]:1"),
        ("tls://a.example:7401, tls://A.example:7402", "tls://host-1:7401, tls://host-1:7402"),
        ("tcp://127.0.0.1:1 tcp://localhost:2 0.0.0.0", "tcp://127.0.0.1:1 tcp://localhost:2 0.0.0.0"),
        ("allow spiffe://example.org/web call shop.Shop.*", "allow identity-spiffe-1 call shop.Shop.*"),
        ("uid:1000 token:web-1", "identity-uid-1 identity-token-1"),
        ("/home/ada/mf.log", "/home/user-1/mf.log"),
        ("version 1.2.3 of shop.Shop", "version 1.2.3 of shop.Shop"),
    ],
)
def test_what_is_left_out_and_what_becomes_a_number(text: str, shown: str) -> None:
    assert Redacted(keep_names=False).text(text) == shown


def test_a_name_has_one_number_in_all_texts() -> None:
    redacted = Redacted(keep_names=False)
    assert redacted.text("tls://b.example:1") == "tls://host-1:1"
    assert redacted.text("tls://a.example:1 tls://b.example:1") == "tls://host-2:1 tls://host-1:1"


def test_names_may_be_kept_and_secrets_never() -> None:
    text = Redacted(keep_names=True).text(f"tcp://10.0.0.7:1 dns:a.example {TOKEN}")
    assert text == "tcp://10.0.0.7:1 dns:a.example (left-out)"


def test_a_bundle_has_all_parts(tool: Tool, controller: Server, registered: Server, tmp_path: Path) -> None:
    del registered
    log, config = tmp_path / "mf.log", tmp_path / "access.conf"
    log.write_text("old line\n" * 200_000 + f"peer=10.0.0.7 shown={TOKEN}\n")
    config.write_text("allow dns:web.example call shop.*\n")
    said = tool.at(controller.address).well(
        "audit", "gather", "b.tar.gz", "--log", str(log), "--config", str(config), "--monitor", "127.0.0.1:1"
    )
    assert said.splitlines()[0].startswith("b.tar.gz: tool.json, registry.json, status.json, ")
    assert "without metrics-3.txt: 127.0.0.1:1 does not answer" in said
    assert stat.S_IMODE(Path("b.tar.gz").stat().st_mode) == 0o600
    found = parts("b.tar.gz")
    assert {each["name"] for each in json.loads(found["registry.json"])} >= {"shop.Shop", "shop.News"}
    assert json.loads(found["status.json"])["store"]["name"] == "memory"
    assert found["config-4.txt"] == "allow identity-dns-1 call shop.*\n"
    assert len(found["log-5.txt"]) <= 1 << 20
    assert found["log-5.txt"].startswith("old line\n")
    assert found["log-5.txt"].endswith("peer=address-1 shown=(left-out)\n")
    assert list(json.loads(found["missing.json"])) == ["metrics-3.txt"]


def test_private_keys_never_go_into_a_bundle(tool: Tool, tmp_path: Path) -> None:
    key = tmp_path / "a.key"
    key.write_text(KEY)
    assert "is a private key" in tool.well("audit", "gather", "b.tar.gz", "--config", str(key))
    assert "MC4CAQ" not in "".join(parts("b.tar.gz").values())


def test_a_bundle_is_gathered_while_the_controller_is_away(tool: Tool) -> None:
    found = tool.at("mf://127.0.0.1:1").json("audit", "gather", "b.tar.gz")
    assert sorted(found["missing"]) == ["registry.json", "status.json"]
    assert "UNAVAILABLE" in found["missing"]["status.json"]


def test_a_bundle_overwrites_nothing_and_is_about_something(tool: Tool) -> None:
    assert "nothing to gather" in tool.fails(2, "audit", "gather", "b.tar.gz")
    Path("b.tar.gz").write_text("mine")
    assert "not overwritten" in tool.fails(2, "audit", "gather", "b.tar.gz", "--where", "mf://127.0.0.1:1")
    assert "is no HOST:PORT" in tool.fails(2, "audit", "gather", "c.tar.gz", "--monitor", "x")
