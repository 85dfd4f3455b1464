"""Commands about files: contexts, certificates, tokens, access files; and the pages of the tool itself."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import mf
from mf_tools import contexts
from mf_tools.commands.cheat import RECIPES
from mf_tools.commands.errors import CODES
from mf_tools.guard import CommandError
from tests.mf_tools.conftest import Tool

# Contexts


def test_a_context_is_made_used_and_removed(tool: Tool) -> None:
    tool.well("context", "add", "lab", "mf://127.0.0.1:7400")
    Path("ca.pem").write_text("")
    tool.well("context", "add", "prod", "mf+tls://host:7443", "--ca", "ca.pem", "--server-name", "h", "--use")
    assert tool.json("context", "ls") == [
        {"name": "lab", "current": False, "where": "mf://127.0.0.1:7400"},
        {
            "name": "prod",
            "current": True,
            "where": "mf+tls://host:7443",
            "ca": str(tool.folder / "ca.pem"),
            "server_name": "h",
        },
    ]
    tool.well("context", "use", "lab")
    assert json.loads(tool.well("context", "show"))["name"] == "lab"
    tool.well("context", "remove", "lab")
    assert [each["current"] for each in tool.json("context", "ls")] == [False]
    assert "there is no context 'prd'; did you mean 'prod'?" in tool.fails(2, "context", "use", "prd")


def test_files_of_contexts_are_for_their_user_alone(tool: Tool) -> None:
    tool.well("context", "add", "lab", "mf://h:1", "--token-stdin", given="v4.public.secret\n")
    home = tool.folder / "config/mf/contexts"
    assert {each.name: oct(each.stat().st_mode & 0o777) for each in home.iterdir()} == {
        "lab.json": "0o600",
        "lab.token": "0o600",
    }
    assert oct(home.stat().st_mode & 0o777) == "0o700"
    assert "secret" not in tool.well("context", "show") + (home / "lab.json").read_text()
    (home / "lab.json").chmod(0o640)
    assert "others may use it (mode 0640): chmod 600 it" in tool.fails(3, "ls", "-c", "lab")


def test_a_second_context_of_one_name_is_refused(tool: Tool) -> None:
    tool.well("context", "add", "lab", "mf://h:1")
    assert "there is a context 'lab' already" in tool.fails(2, "context", "add", "lab", "mf://h:2")
    assert contexts.load("lab") == {"where": "mf://h:1"}
    tool.well("context", "add", "lab", "mf://h:2", "--replace")
    assert contexts.load("lab") == {"where": "mf://h:2"}


def test_of_two_that_add_one_name_at_once_one_gets_it(tool: Tool) -> None:
    for round_ in range(20):
        [loser] = losers(f"n{round_}")
        assert contexts.load(f"n{round_}")["where"] != loser
    del tool


def losers(name: str) -> list[str]:
    """The addresses that two threads, which add them at once, were refused."""
    refused: list[str] = []
    barrier = threading.Barrier(2)

    def add(where: str) -> None:
        barrier.wait()
        try:
            contexts.save(name, {"where": where})
        except CommandError:
            refused.append(where)

    threads = [threading.Thread(target=add, args=(f"mf://h:{port}",)) for port in (1, 2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return refused


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "x" * 65, "-x\n"])
def test_a_name_that_leads_elsewhere_is_none(tool: Tool, name: str) -> None:
    assert "is no name of a context" in tool.fails(2, "context", "add", "--", name, "mf://h:1")


@pytest.mark.parametrize(
    "where", ["h:1", "mf://h", "mf://h:0", "mf://h:99999", "mf://::1:5", "unix:x", "mf://:1"]
)
def test_what_is_no_address_is_refused(tool: Tool, where: str) -> None:
    assert "is no address" in tool.fails(2, "context", "add", "lab", where)


def test_the_address_of_a_door_is_refused_with_the_ones_to_give(tool: Tool) -> None:
    said = tool.fails(2, "context", "add", "lab", "http://h:1")

    assert "'http://h:1' is for curl and browsers: give the relay's or server's own address" in said


def test_a_context_that_was_damaged_is_named(tool: Tool) -> None:
    tool.well("context", "add", "lab", "mf://h:1")
    path = tool.folder / "config/mf/contexts/lab.json"
    for text in ("", "[]", '{"where": 1}', '{"nowhere": ""}', "[" * 100_000):
        path.write_text(text)
        assert "is no context" in tool.fails(3, "ls", "-c", "lab")


def test_a_full_disk_leaves_the_context_that_was_there(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.well("context", "add", "lab", "mf://h:1")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "No space left on device" in tool.fails(3, "context", "add", "lab", "mf://h:2", "--replace")
    assert "No space left on device" in tool.fails(3, "context", "add", "new", "mf://h:2")
    assert (contexts.names(), contexts.load("lab")) == (["lab"], {"where": "mf://h:1"})


def test_an_address_takes_no_credentials_of_a_context(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    tool.well("context", "add", "lab", "mf+tls://h:1", "--token-stdin", "--use", given="secret")
    monkeypatch.setenv("MF_WHERE", "tcp://127.0.0.1:1")
    assert "UNAVAILABLE" in tool.fails(4, "call", "a.B.c", "--deadline", "1")


# Certificates


def test_an_authority_issues_what_servers_and_clients_use(tool: Tool) -> None:
    tool.well("certs", "authority", "ca")
    tool.well("certs", "issue", "web", "--authority", "ca", "--dns", "localhost", "--ip", "127.0.0.1")
    tool.well("certs", "request", "desk", "--uri", "spiffe://example.org/desk")
    tool.well("certs", "issue", "desk", "--authority", "ca", "--request", "desk.csr", "--days", "5")
    assert all(Path(each).stat().st_mode & 0o777 == 0o600 for each in ("ca/ca.key", "web.key", "desk.key"))
    subprocess.run(
        ["openssl", "verify", "-x509_strict", "-CAfile", "ca/ca.pem", "web.pem", "desk.pem"], check=True
    )
    shown = mf.Tls(certificate="web.pem", key="web.key", ca="ca/ca.pem")
    with mf.Server("tls://127.0.0.1:0", tls=shown) as server:
        tool.at(server.address)
        trusted = ("latency", "-n", "1", "--ca", "ca/ca.pem")
        tool.well(*trusted, "--certificate", "desk.pem", "--key", "desk.key")
        tool.run(*trusted)
        assert tool.code == 4


def test_the_days_that_certificates_have_left_are_shown(tool: Tool) -> None:
    tool.well("certs", "authority", "ca", "--days", "100")
    tool.well("certs", "issue", "web", "--authority", "ca", "--dns", "localhost", "--days", "5")
    rows = json.loads(tool.run("certs", "show", "web.pem", "ca/ca.pem", "--json"))
    assert tool.code == 1
    assert [(row["names"], row["state"], round(row["days"])) for row in rows] == [
        (["localhost"], "soon", 5),
        ([], "ok", 100),
    ]
    tool.well("certs", "show", "web.pem", "--warn", "4")
    Path("none.pem").write_text("nothing")
    assert "'none.pem' holds no certificate" in tool.fails(3, "certs", "show", "none.pem")


def test_no_file_of_a_key_is_overwritten(tool: Tool) -> None:
    tool.well("certs", "authority", "ca")
    before = Path("ca/ca.key").read_bytes()
    assert "'ca/ca.key' is there already" in tool.fails(2, "certs", "authority", "ca")
    assert Path("ca/ca.key").read_bytes() == before
    assert "say what it is for" in tool.fails(2, "certs", "request", "x")


# Tokens


def test_a_token_is_signed_shown_and_verified(tool: Tool) -> None:
    key = tool.well("token", "key", "tokens").strip()
    new = ("token", "new", "--key", "tokens", "--sub", "web-1", "--aud", "shop.Shop")
    tool.well(*new, "--for", "1h", "--out", "web-1.token")
    assert Path("web-1.token").stat().st_mode & 0o777 == 0o600
    claims = tool.json("token", "show", "web-1.token", "--keys", "tokens.pub", "--aud", "shop.Shop")
    assert (claims["subject"], claims["verified"], claims["key_id"]) == ("web-1", True, key)
    unverified = tool.json("token", "show", given=Path("web-1.token").read_text())
    assert (unverified["subject"], unverified["verified"]) == ("web-1", False)
    text = Path("web-1.token").read_text().strip()
    assert text not in tool.well("token", "show", "web-1.token")
    tool.run("token", "show", "web-1.token", "--keys", "tokens.pub", "--aud", "other")
    assert tool.code == 1
    assert "audience: " in tool.out
    assert "--for 1y" in tool.fails(2, *new, "--for", "1y", "--out", "other.token")
    assert "this is no token" in tool.fails(1, "token", "show", given="v4.public.abc")


# Access files

RULES = """\
group ops = uid:0
allow @ops administer
deny  anyone call shop.Shop.order
allow token:web-* call shop.Shop.*
"""


@pytest.mark.parametrize(
    ("wish", "code", "said"),
    [
        (
            ("token:web-1", "call", "shop.Shop.find"),
            0,
            "allowed: line 4: allow token:web-* call shop.Shop.*\n",
        ),
        (
            ("token:web-1", "call", "shop.Shop.order"),
            1,
            "denied: line 3: deny  anyone call shop.Shop.order\n",
        ),
        (("nobody", "call", "shop.Shop.find"), 1, "denied: no line fits\n"),
        (("uid:0", "administer"), 0, "allowed: line 2: allow @ops administer\n"),
    ],
)
def test_an_access_file_says_what_decides(tool: Tool, wish: tuple[str, ...], code: int, said: str) -> None:
    Path("access").write_text(RULES)
    assert (tool.run("access", "check", "access", *wish), tool.code) == (said, code)


def test_mistakes_of_an_access_file_are_named(tool: Tool) -> None:
    Path("access").write_text("alow anyone call *\n")
    assert "did you mean 'allow'?" in tool.fails(1, "access", "check", "access")
    Path("access").write_text(RULES)
    assert tool.json("access", "check", "access") == {"lines": 3}
    for name in (
        "web",
        "uid:*",
        "uid:abc",
        "uid:01000",
        "dns:",
        "token:",
        "token:*",
        "user:7",
        "spiffe:/o/x",
    ):
        assert f"'{name}' is no identity: " in tool.fails(2, "access", "check", "access", name, "call", "x")
    assert "say what uid:0 wants to do" in tool.fails(2, "access", "check", "access", "uid:0")


# The tool's own pages


def test_each_code_of_the_runtime_is_explained() -> None:
    assert {name: number for name, (number, _, _) in CODES.items()} == {each.name: each for each in mf.Code}


def test_a_code_is_found_by_name_and_number(tool: Tool) -> None:
    assert tool.well("errors", "unavailable") == tool.well("errors", "11")
    assert len(tool.json("errors")) == len(mf.Code)
    assert "did you mean UNAVAILABLE?" in tool.fails(2, "errors", "UNAVAILIBLE")
    assert tool.fails(2, "errors", "E0301") == "E0301 is a message of the compiler: mfidlc help E0301"


def test_recipes_are_found_by_a_word(tool: Tool) -> None:
    assert [each["command"] for each in tool.json("cheat", "template")] == [
        "mf call shop.Shop.find --example"
    ]
    assert len(tool.json("cheat")) == len(RECIPES)
    assert "no recipe" in tool.fails(2, "cheat", "zzz")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands(tool: Tool, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "_MF_COMPLETE" in tool.well("completion", shell)
    for name, value in (("_MF_COMPLETE", f"{shell}_complete"), ("COMP_WORDS", "mf des"), ("COMP_CWORD", "1")):
        monkeypatch.setenv(name, value)
    if shell == "fish":
        monkeypatch.setenv("COMP_CWORD", "des")
    process = tool.process()
    out, err = process.communicate(timeout=60)
    assert b"describe" in out, err


def test_bash_completes_commands_and_options(tool: Tool) -> None:
    """As its readline does: by the function that the script has registered."""
    binary = tool.folder / "mf"
    binary.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mf_tools "$@"\n')
    binary.chmod(0o755)
    (tool.folder / "completion").write_text(tool.well("completion", "bash"))
    script = (
        "source ./completion\n"
        'asked() { COMPREPLY=(); COMP_WORDS=(mf "$@"); COMP_CWORD=$#;'
        " $(complete -p mf | sed 's/.*-F \\([^ ]*\\) .*/\\1/') mf; echo ${COMPREPLY[@]}; }\n"
        "asked des\nasked call --bu\nasked certs i\n"
    )
    root = Path(__file__).resolve().parents[2]
    path = f"{tool.folder}:{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PATH": path, "PYTHONPATH": f"{root / 'cli'}:{root / 'runtime' / 'python'}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert (found.stdout, found.stderr) == ("describe\n--bulk\nissue\n", "")
