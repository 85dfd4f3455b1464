"""tests/vectors/recordings, which C++ reads as well (tests/cpp/testing/recorded_test.cpp)."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mf
from mf.testing import recorded, recorded_calls
from tests.mf_tools.conftest import ROOT

FOLDER = ROOT / "tests" / "vectors" / "recordings"
CASES = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def module(stubs: Path) -> Iterator[Any]:
    """The generated classes of shop.mfidl."""
    sys.path.insert(0, str(stubs))
    yield importlib.import_module("shop")
    sys.path.remove(str(stubs))


def in_json(value: Any) -> Any:
    if isinstance(value, list):
        return [in_json(each) for each in value]
    return value if type(value) in (int, str) else json.loads(mf.to_json(value))


def read(path: Path, of: str, module: Any) -> Iterator[dict[str, Any]]:
    """As expected.json has it."""
    if of == "messages":
        for message in recorded(path, module.Sold):
            value = json.loads(mf.to_json(message.value))
            yield {"t": message.seconds, "agent": message.agent, "value": value}
        return
    for call in recorded_calls(path, module.ShopServant, module.ClockServant, module.CatalogServant):
        made: dict[str, Any] = {"line": call.line, "seconds": call.seconds}
        made |= {"service": call.service, "method": call.method, "agent": call.agent}
        made |= {"code": call.code.name, "took": call.took}
        made |= {"error": call.error} if call.error else {}
        made |= {"stream": True} if call.stream else {}
        if call.arguments is not None:
            made["arguments"] = {name: in_json(value) for name, value in call.arguments.items()}
        if call.result is not None:
            made["result"] = in_json(call.result)
        yield made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["file"])
def test_what_is_read_and_what_is_refused(case: dict[str, Any], module: Any) -> None:
    path = FOLDER / case["file"]
    if "error" not in case:
        assert list(read(path, case["of"], module)) == case["read"]
        return
    with pytest.raises((ValueError, mf.DecodeError)) as refused:
        list(read(path, case["of"], module))
    said = refused.value.message if isinstance(refused.value, mf.DecodeError) else str(refused.value)
    assert said == case["error"].replace("{path}", str(path))


def test_the_vectors_describe_the_schema_of_the_tests(module: Any) -> None:
    lines = (FOLDER / "calls.rec").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[1])["descriptor"] == module.ShopServant.mf_service.descriptor
