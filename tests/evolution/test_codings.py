"""Integers of archives that lie as existing protobuf has them are the same numbers to other schemas. Cases as
those of tests/vectors/evolution, for Python alone so far.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mf.evolution.plan import plan
from tests.python.evolution.test_vectors import DIRECTIONS, adapted_methods, both, encoding_of
from tests.vectors.evolution_kinds import adapts, change, checked, equal
from tests.vectors.evolution_table import Fault, same
from tests.vectors.make_evolution import Pair

A = "@tier(archive) struct $S"
CHANGES = [
    change(
        "archive_codings",
        "$S",
        f"{A} {{ 1: a: i64; 2: b: list<u32>; 3: c: map<u32, i32>; }}",
        f"{A} {{ 1: a: i64.varint; 2: b: list<u32.fixed>; 3: c: map<u32.fixed, i32.varint>; }}",
        adapts(*same('{"a":"-5","b":[1,300],"c":{"7":-7}}')),
        adapts(*same('{"a":"-9","b":[],"c":{}}')),
    ),
    change(
        "archive_coded_widens",
        "$S",
        f"{A} {{ 1: a: i32.fixed; }}",
        f"{A} {{ 1: a: i64.varint; }}",
        adapts(('{"a":-5}', '{"a":"-5"}')),
        checked(('{"a":"4294967296"}', Fault("4294967296 does not fit i32 of {side} schema", ".a"))),
    ),
    change(
        "archive_coded_kept",
        "$S",
        f"{A} {{ 1: a: i32.varint; }}",
        f"{A} {{ 1: a: i32.varint; }}",
        equal('{"a":-5}'),
        equal('{"a":5}'),
    ),
]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder: Path = tmp_path_factory.mktemp("codings") / "pair"
    Pair(folder, CHANGES, []).write()
    found: dict[str, Any] = json.loads((folder / "cases.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_they_have_the_verdicts_of_integers(pair: dict[str, Any], direction: str) -> None:
    found = {each.name: each.verdict.name.lower() for each in plan(*both(pair, direction)).methods}
    assert found == {case["method"]: case[direction] for case in pair["cases"]}


def test_their_values_go_over(pair: dict[str, Any]) -> None:
    adapted = adapted_methods(pair)
    asked = [each for each in pair["values"] if "theirs" in each.get("request", ())]
    assert len(asked) == 5
    for value in asked:
        method, direction = value["method"], value["direction"]
        own = encoding_of(pair, direction, method, of_consumer=True)
        _, body = adapted[direction][method].request(own, 1, bytes.fromhex(value["request"]["own"]))
        assert bytes(body).hex() == value["request"]["theirs"], value
