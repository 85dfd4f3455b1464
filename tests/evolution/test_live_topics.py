"""Subscribers of one schema read publishers of another in all pairs of languages, straight and through relays
in a row.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.evolution.items import Came, Cpp, Items, Python
from tests.interop.peers import BUILD, LANGUAGES, Peers, Process

PAIRS_OF_LANGUAGES = [(publisher, subscriber) for publisher in LANGUAGES for subscriber in LANGUAGES]
relayed = pytest.mark.parametrize("relays", [0, 1, 2])
in_all_languages = pytest.mark.parametrize("languages", PAIRS_OF_LANGUAGES, ids="-".join)


class World:
    def __init__(self, folder: Path, forms: Callable[[str], Any]) -> None:
        self._folder = folder
        self._forms = forms
        self._peers = Peers(folder, folder)
        self._made: list[Items] = []
        self.controller = self._peers.controller().address.replace("tcp://", "mf://")

    def where(self, relays: int) -> str:
        """The address of the first of so many relays in a row."""
        address = self.controller
        for _ in range(relays):
            address = self._peers.relay(address).address.replace("tcp://", "relay://")
        return address

    def items(self, language: str, schema: str) -> Items:
        made: Items = Python(self._forms(schema)) if language == "python" else self._cpp(schema)
        self._made.append(made)
        return made

    def _cpp(self, schema: str) -> Cpp:
        program = BUILD / f"tests/evolution/evolution-items-{schema}"
        if not program.is_file():
            pytest.fail(f"{program} is missing: cmake --build --preset release --target {program.name}")
        return Cpp(Process([str(program)], {}, self._folder / f"items{len(self._made)}.stderr"))

    def publisher(self, language: str, schema: str) -> Items:
        made = self.items(language, schema)
        made.publish(self.controller)
        return made

    def subscriber(self, language: str, schema: str, where: str, publishers: int) -> Items:
        made = self.items(language, schema)
        made.subscribe(where)
        made.await_publishers(publishers)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()
        self._peers.close()


@pytest.fixture
def world(tmp_path: Path, forms: Callable[[str], Any]) -> Iterator[World]:
    made = World(tmp_path, forms)
    yield made
    made.close()


@pytest.mark.parametrize("schemas", [("old", "new"), ("new", "old"), ("mid", "old")], ids="-to-".join)
@in_all_languages
@relayed
def test_a_message_arrives_in_the_subscribers_schema_or_cannot_be_read_alone(
    world: World, languages: tuple[str, str], schemas: tuple[str, str], relays: int
) -> None:
    theirs, ours = schemas
    publisher = world.publisher(languages[0], theirs)
    subscriber = world.subscriber(languages[1], ours, world.where(relays), 1)
    ids = [1, 65_535, *([70_000] if theirs != "old" else []), 2]
    publisher.give(ids)
    words = "Items: value id: 70000 does not fit u16 of the subscriber's schema"
    wanted = [Came(n, str(n)) if n < 70_000 else Came(code="DECODE_ERROR", fault=words) for n in ids]
    assert [replace(came, fault=words_of(came.fault)) for came in subscriber.take(len(ids))] == wanted


def words_of(fault: str) -> str:
    """Without which message it is, and whose."""
    told = re.fullmatch(r"message \d+ of forms\.Items: tcp://127\.0\.0\.1:\d+: (.*)", fault)
    return told[1] if told else fault


@pytest.mark.parametrize("language", LANGUAGES)
@relayed
def test_publishers_of_all_schemas_in_both_languages_are_read_by_each_subscriber(
    world: World, language: str, relays: int
) -> None:
    publishers = [world.publisher(each, schema) for each in LANGUAGES for schema in ("old", "new")]
    publishers += [world.publisher(language, "mid")]
    where = world.where(relays)
    subscribers = [world.subscriber(language, schema, where, 5) for schema in ("mid", "old")]
    for at, publisher in enumerate(publishers):
        publisher.give(range(10 * at, 10 * at + 10))
    for subscriber in subscribers:
        assert sorted(came.id for came in subscriber.take(50)) == list(range(50))
