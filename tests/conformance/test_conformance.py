"""Every row of the table in every cell: each client, of whichever language, must observe the same."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.processes import HERE, ROOT, Processes
from tests.conformance.table import (
    BROKEN,
    CANCELLED,
    ROWS,
    Cell,
    InLight,
    OneOf,
    Relayed,
    Row,
    Says,
    cells,
    cover,
    impossible,
)
from tests.conftest import TypeCheck


def cases(*, denied: bool) -> Iterator[Any]:
    for cell in cells() if os.environ.get("MF_CONFORMANCE") == "all" else cover():
        for row in ROWS:
            if (cell.way == "denied") is denied and impossible(row.shape, cell) is None:
                reason = BROKEN.get((row.shape, str(cell)))
                marks = () if reason is None else (pytest.mark.xfail(reason=reason, strict=True),)
                yield pytest.param(cell, row, id=f"{cell}-{row.shape}", marks=marks)


@pytest.mark.parametrize(("cell", "row"), list(cases(denied=False)))
def test_every_client_observes_the_same(processes: Processes, cell: Cell, row: Row) -> None:
    for room in ("red", "blue"):
        processes.observe(cell, f"clear {room}")
    address = processes.address(cell)
    for step, expected in row.steps:
        observed = processes.observe(cell, step)
        assert matches(expected, observed, address), f"{step}: expected {expected}, observed {observed}"


@pytest.mark.parametrize(("cell", "row"), list(cases(denied=True)))
def test_no_shape_of_a_call_passes_a_denial(processes: Processes, cell: Cell, row: Row) -> None:
    allowed = replace(cell, way="mtls")
    for room in ("red", "blue"):
        processes.observe(allowed, f"clear {room}")

    observed = [processes.observe(cell, step) for step, _ in row.steps]

    failures = [each for found in observed for each in failures_in(found)]
    assert {each["execution"] for each in failures} == {"NOT_EXECUTED"}, observed
    refused = [each["message"] for each in failures if each["code"] != "INVALID_ARGUMENT"]  # the client's own
    assert refused, observed
    for each in refused:
        assert "spiffe://example.org/stranger may not call conformance.Shapes" in each, observed
    for room in ("red", "blue"):
        assert processes.observe(allowed, f"log {room} 0") == {"value": []}


def failures_in(observed: Any) -> Iterator[dict[str, Any]]:
    if isinstance(observed, list):
        for each in observed:
            yield from failures_in(each)
    elif isinstance(observed, dict):
        if "code" in observed:
            yield observed
        for each in observed.values():
            yield from failures_in(each)


def matches(expected: Any, observed: Any, address: str) -> bool:
    """`address`: of the server, as its client has it."""
    if isinstance(expected, Relayed):
        relayed = address.startswith("relay")
        return matches(expected.expected if relayed else expected.otherwise, observed, address)
    if isinstance(expected, InLight):
        in_light = address.startswith("light-")
        return matches(expected.expected if in_light else expected.otherwise, observed, address)
    if isinstance(expected, Says):
        for scheme in ("tcp://", "relay://", "relay+tls://"):
            address = address.removeprefix(scheme)
        return expected.holds(observed, address)
    if isinstance(expected, OneOf):
        return any(matches(each, observed, address) for each in expected.choices)
    if isinstance(expected, dict) and isinstance(observed, dict):
        if expected is CANCELLED:
            return observed.get("code") == CANCELLED["code"]
        return expected.keys() == observed.keys() and all(
            matches(each, observed[key], address) for key, each in expected.items()
        )
    if isinstance(expected, list) and isinstance(observed, list):
        return len(expected) == len(observed) and all(
            matches(one, other, address) for one, other in zip(expected, observed, strict=True)
        )
    return bool(expected == observed)


def test_the_cover_has_every_pair_and_leaves_cells_out() -> None:
    def pairs(of: Iterable[Cell]) -> set[tuple[str, ...]]:
        return {
            pair
            for cell in of
            for pair in ((cell.client, cell.server), (cell.client, cell.way), (cell.server, cell.way))
        }

    assert pairs(cover()) == pairs(cells())
    assert len(cover()) < len(list(cells())) / 2


def test_the_programs_are_strictly_typed_against_the_stubs(
    stubs: Path, passes_mypy_strict: TypeCheck
) -> None:
    passes_mypy_strict((HERE / "programs").glob("*.py"), (stubs, HERE / "programs", ROOT / "runtime/python"))
