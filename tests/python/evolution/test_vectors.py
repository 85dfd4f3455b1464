"""What the rules make of the pairs of schemas in tests/vectors/evolution, and of their values."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import mf
from mf.core.error import Code, Execution
from mf.core.service import FEBIRD, MEMCPY, ServiceInfo
from mf.evolution.plan import plan
from mf.evolution.reading import read
from mf.evolution.schema import Schema
from mf.protocol.adapted import Adapted, adaptation

FOLDER = Path(__file__).parents[2] / "vectors" / "evolution"
PAIRS = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*/cases.json"))]
DIRECTIONS = ("old_to_new", "new_to_old")


def schema(pair: dict[str, Any], name: str) -> Schema:
    return read(pair[name]["descriptor"], pair[name]["annex"])


def both(pair: dict[str, Any], direction: str) -> tuple[Schema, Schema]:
    """The consumer's and the provider's."""
    ours, theirs = direction.split("_to_")
    return schema(pair, ours), schema(pair, theirs)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["service"])
def test_each_method_has_its_verdict_and_its_reason(pair: dict[str, Any], direction: str) -> None:
    made = plan(*both(pair, direction))
    found = {each.name: (each.verdict.name.lower(), each.reason) for each in made.methods}

    wanted = {
        case["method"]: (case[direction], case[f"reason_{direction}"])
        for case in pair["cases"]
        if case[direction] is not None
    }
    assert made.reason is None
    assert {name: found[name] for name in wanted} == wanted
    assert found.keys() == wanted.keys()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["service"])
def test_a_fingerprint_is_that_of_the_descriptor(pair: dict[str, Any]) -> None:
    assert schema(pair, "old").fingerprint.hex() == pair["old"]["fingerprint"]


def adapted_methods(pair: dict[str, Any]) -> dict[str, dict[str, Adapted]]:
    """Those that may be called, by direction and name."""
    made: dict[str, dict[str, Adapted]] = {}
    for direction in DIRECTIONS:
        ours, theirs = both(pair, direction)
        service = ServiceInfo(
            name=ours.name, agent=None, descriptor="", fingerprint=ours.fingerprint, methods=()
        )
        found = adaptation(service, ours, theirs)
        methods: list[tuple[str, Any]] = [
            (name, SimpleNamespace(index=index)) for index, name in enumerate(ours.methods)
        ]
        made[direction] = {
            name: adapted
            for name, each in methods
            if found.refusal(each) is None and (adapted := found.method(each)) is not None
        }
    return made


ADAPTED = [adapted_methods(pair) for pair in PAIRS]


def encoding_of(pair: dict[str, Any], direction: str, method: str, *, of_consumer: bool) -> int:
    schemas = both(pair, direction)
    found = schemas[0 if of_consumer else 1].methods[method]
    return MEMCPY if (found.results if method.startswith("r_") else found.params).tier == "memcpy" else FEBIRD


def values(part: str) -> list[Any]:
    return list(_values(part))


def _values(part: str) -> Iterator[Any]:
    for at, pair in enumerate(PAIRS):
        for value in pair["values"]:
            if part in value:
                name = f"{value['method']}-{value['direction']}"
                yield pytest.param(at, value["method"], value["direction"], value[part], id=name)


@pytest.mark.parametrize(("at", "method", "direction", "value"), values("request"))
def test_a_request_becomes_the_providers_bytes_or_is_refused_in_words(
    at: int, method: str, direction: str, value: dict[str, str]
) -> None:
    adapted = ADAPTED[at][direction][method]
    own = encoding_of(PAIRS[at], direction, method, of_consumer=True)

    if "fault" in value:
        with pytest.raises(mf.Error) as raised:
            adapted.request(own, 1, bytes.fromhex(value["own"]))
        error = raised.value
        assert (error.code, error.execution) == (Code.INVALID_ARGUMENT, Execution.NOT_EXECUTED)
        assert error.message == value["fault"]
        return
    flags, body = adapted.request(own, 1, bytes.fromhex(value["own"]))
    assert bytes(body).hex() == value["theirs"]
    assert flags == encoding_of(PAIRS[at], direction, method, of_consumer=False)


@pytest.mark.parametrize(("at", "method", "direction", "value"), values("result"))
def test_a_result_becomes_the_consumers_bytes_or_fails_in_words(
    at: int, method: str, direction: str, value: dict[str, str]
) -> None:
    adapted = ADAPTED[at][direction][method]
    theirs = encoding_of(PAIRS[at], direction, method, of_consumer=False)
    payload = bytes.fromhex(value["theirs"])

    status, encoding, made = adapted.reply(0, theirs, 1, payload)

    assert encoding == encoding_of(PAIRS[at], direction, method, of_consumer=True)
    if "fault" in value:
        text = value["fault"].encode()
        record = bytes((Execution.UNKNOWN, 0)) + len(text).to_bytes(2, "little") + text
        assert (status, bytes(made)) == (1, bytes((Code.DECODE_ERROR, *bytes(7))) + record)
    else:
        assert (status, bytes(made).hex()) == (0, value["own"])
