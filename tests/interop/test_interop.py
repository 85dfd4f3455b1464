"""The same calls between C++ and Python, both ways and each to itself, and in every way to a server.

What is called, and what must come back, is in script.cpp and programs/script.py.
"""

from pathlib import Path

import pytest

from tests.conftest import TypeCheck
from tests.interop.peers import HERE, LANGUAGES, ROOT, Line, Peers

SCRIPT_WAIT = 0.3  # for servers that will never come


def assert_all_well(checks: list[Line]) -> None:
    wrong = [f"{each['mode']} {each['name']}: {each['detail']}" for each in checks if not each["ok"]]
    assert not wrong, "\n".join(wrong)
    assert checks


def names(checks: list[Line]) -> set[tuple[str, str]]:
    return {(each["mode"], each["name"]) for each in checks}


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_every_shape_goes_directly(peers: Peers, client: str, server: str) -> None:
    address = peers.server(server, "--room", "red", "--inline-room", "blue").address

    checks = peers.client(client, address, SCRIPT_WAIT).ask("script direct")

    assert_all_well(checks)


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_every_shape_goes_to_servers_found_through_a_controller(
    peers: Peers, client: str, server: str
) -> None:
    controller = peers.controller().address
    peers.server(server, "--controller", controller, "--room", "red")
    peers.server(server, "--controller", controller, "--inline-room", "blue")
    calling = peers.client(client, controller)
    assert all(each["ok"] for room in ("red", "blue") for each in calling.ask(f"who {room}"))

    checks = peers.client(client, controller, SCRIPT_WAIT).ask("script mf")

    assert_all_well(checks)


@pytest.mark.parametrize("server", LANGUAGES)
@pytest.mark.parametrize("client", LANGUAGES)
def test_servers_that_have_a_path_only_are_found_through_a_controller(
    peers: Peers, client: str, server: str, tmp_path: Path
) -> None:
    controller = peers.controller().address
    listen = f"unix:{tmp_path / 's'}"
    peers.server(server, "--listen", listen, "--controller", controller, "--room", "red")

    assert_all_well(peers.client(client, controller).ask("who red"))


@pytest.mark.parametrize("client", LANGUAGES)
def test_one_scattered_call_reaches_servers_in_both_languages(peers: Peers, client: str) -> None:
    controller = peers.controller().address
    peers.server("cpp", "--controller", controller, "--room", "red")
    peers.server("python", "--controller", controller, "--room", "blue")
    calling = peers.client(client, controller)

    for command in ("on blue,red", "everywhere"):
        outcomes = calling.ask(command)

        assert sorted(each["room"] for each in outcomes) == ["blue", "red"]
        assert all(each["ok"] for each in outcomes), outcomes


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_shape_goes_in_process(peers: Peers, language: str) -> None:
    assert_all_well(peers.client(language, "light", SCRIPT_WAIT).ask("script light"))


def test_clients_in_both_languages_make_the_same_calls(peers: Peers) -> None:
    address = peers.server("cpp", "--room", "red", "--inline-room", "blue").address
    for where, way in ((address, "direct"), ("light", "light")):
        by_cpp, by_python = (
            peers.client(each, where, SCRIPT_WAIT).ask(f"script {way}") for each in LANGUAGES
        )

        assert names(by_cpp) == names(by_python)


MISMATCHES = {
    "finder": "Finder.find: field Hit.score: f32 here, string there",
    "other_finder": "Finder.find: field Hit.score: string here, f32 there",
}


@pytest.mark.parametrize("theirs", LANGUAGES)
@pytest.mark.parametrize("ours", LANGUAGES)
@pytest.mark.parametrize("schema", MISMATCHES)
def test_a_call_that_no_rule_allows_is_refused_in_words_before_it_is_sent(
    peers: Peers, schema: str, ours: str, theirs: str
) -> None:
    other = next(each for each in MISMATCHES if each != schema)
    server = peers.finder_server(theirs, other)

    ends = peers.find(ours, schema, server.address)

    assert [each["mode"] for each in ends] == ["single", "async", "batch", "bulk"]
    for end in ends:
        assert (end["code"], end["execution"]) == ("SCHEMA_MISMATCH", "NOT_EXECUTED"), end
        assert MISMATCHES[schema] in end["detail"]
    server.kill()
    assert "find was called" not in server.output()


@pytest.mark.parametrize("theirs", LANGUAGES)
@pytest.mark.parametrize("ours", LANGUAGES)
def test_equal_schemas_are_not_refused(peers: Peers, ours: str, theirs: str) -> None:
    server = peers.finder_server(theirs, "other_finder")

    ends = peers.find(ours, "other_finder", server.address)

    assert [each["code"] for each in ends] == ["OK"] * 4, ends
    server.kill()
    assert server.output().count("find was called") == 6  # 1 + 1 + 2 + 2


EXTENDING = {
    "get": "2",
    "missing": "nothing",
    "stats": "3 7",
    "scan": "xyz",
    "restore": "1",
    "everywhere": "8",
    "locked": "yes",
}


@pytest.mark.parametrize("theirs", LANGUAGES)
@pytest.mark.parametrize("ours", LANGUAGES)
def test_a_server_is_called_by_clients_of_the_services_that_its_own_extends(
    peers: Peers, ours: str, theirs: str
) -> None:
    server = peers.peer_server(theirs, "extending")

    said = peers.peer(ours, "extending", "call", server.address)

    assert {line["what"]: line["value"] for line in said} == EXTENDING


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_servant_in_the_process_is_called_as_the_services_that_its_own_extends(
    peers: Peers, language: str
) -> None:
    said = peers.peer(language, "extending", "local")

    assert {line["what"]: line["value"] for line in said} == EXTENDING


@pytest.mark.parametrize("theirs", LANGUAGES)
@pytest.mark.parametrize("ours", LANGUAGES)
def test_types_within_others_are_parameters_results_errors_and_items_of_streams(
    peers: Peers, ours: str, theirs: str
) -> None:
    server = peers.peer_server(theirs, "nesting")

    said = peers.peer(ours, "nesting", "call", server.address)

    assert {line["what"]: line["value"] for line in said} == {
        "find": "3 4 exact",
        "known": "city",
        "nowhere": "outer 1 2",
        "around": "5 6 7 8",
        "status": "closed",
        "circles": "9 10",
        "keep": "added 3 4",
    }


def test_the_python_programs_are_strictly_typed_against_the_stubs(
    stubs: Path, passes_mypy_strict: TypeCheck
) -> None:
    path = (
        stubs / "interop",
        stubs / "finder",
        stubs / "extending",
        stubs / "nesting",
        HERE / "programs",
        ROOT / "runtime/python",
    )
    passes_mypy_strict((HERE / "programs").glob("*.py"), path)
