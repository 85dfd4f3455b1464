"""Arrays of numpy in calls: callers ask for them by an option, servants by an attribute of their class."""

import asyncio
import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import mf
from mfidl.compiler import Exit, Targets, compile_files

SCHEMA = """
module arrays;
struct Point { x: f64; y: f64; }
struct Cloud { name: string; points: list<Point>; weights: list<f32>; }
service Math {
  double(values: list<f64>) -> list<f64>;
  move(points: list<Point>, by: f64) -> list<Point>;
  keep(cloud: Cloud) -> Cloud;
  @cached(entries = 4) primes() -> list<u32>;
  rows(count: u32) -> stream<list<f64>>;
  sum(rows: stream<list<f64>>) -> f64;
}
service Halves { half(values: list<f64>) -> list<f64>; }
"""
OPTIONS = mf.CallOptions(arrays=True)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("arrays")
    (folder / "arrays.mfidl").write_text(SCHEMA)
    outcome = compile_files([str(folder / "arrays.mfidl")], [str(folder)], Targets(python=str(folder)))
    assert outcome.exit is Exit.OK, outcome.diagnostics
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield importlib.import_module("arrays")
    sys.path.remove(str(folder))


class Seen:
    """What the functions of a servant were given."""

    def __init__(self) -> None:
        self.types: list[type] = []
        self.arrays = False
        """Whether the servant wants arrays."""

    def note(self, value: Any) -> Any:
        self.types.append(type(value))
        return value


def servant_of(generated: Any, seen: Seen, *, arrays: bool) -> Any:
    class Math(generated.MathServant):  # type: ignore[misc]
        mf_arrays = arrays

        def double(self, values: Any) -> Any:
            return np.asarray(seen.note(values)) * 2

        def move(self, points: Any, by: float) -> Any:
            if isinstance(seen.note(points), list):
                return [generated.Point(each.x + by, each.y + by) for each in points]
            moved = points.copy()
            moved["x"] += by
            moved["y"] += by
            return moved

        def keep(self, cloud: Any) -> Any:
            seen.note(cloud.points)
            seen.note(cloud.weights)
            return cloud

        def primes(self) -> Any:
            return [2, 3, 5]

        def rows(self, count: int) -> Any:
            return ([float(each)] * 3 for each in range(count))

        def sum(self, rows: Any) -> float:
            return float(sum(np.asarray(seen.note(each)).sum() for each in rows))

    return Math()


class Places:
    def __init__(self, generated: Any, servant: Any) -> None:
        self.generated = generated
        self.server = mf.Server("tcp://127.0.0.1:0")
        self.server.offer(servant)

    def __enter__(self) -> Any:
        self.server.start()
        self.client = mf.Client(self.server.address)
        return self.generated.MathClient(self.client)

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.server.stop()


@pytest.fixture(params=[False, True], ids=["lists", "arrays"])
def seen(request: pytest.FixtureRequest) -> Seen:
    made = Seen()
    made.arrays = request.param
    return made


@pytest.fixture
def math(generated: Any, seen: Seen) -> Iterator[Any]:
    with Places(generated, servant_of(generated, seen, arrays=seen.arrays)) as client:
        yield client


def kind_of(seen: Seen) -> type:
    return np.ndarray if seen.arrays else list


@pytest.mark.parametrize("count", [3, 50_000])
def test_numbers_arrive_as_each_side_has_asked_for(math: Any, seen: Seen, count: int) -> None:
    values = np.arange(float(count))
    by_list = math.double(values)
    by_array = math.double(values, options=OPTIONS)
    assert type(by_list) is list
    assert type(by_array) is np.ndarray
    assert by_array.flags.writeable is False
    assert by_array.tolist() == by_list == [2.0 * each for each in range(count)]
    assert seen.types == [kind_of(seen)] * 2


@pytest.mark.parametrize("count", [3, 5_000])
def test_structs_arrive_as_a_structured_array(math: Any, generated: Any, seen: Seen, count: int) -> None:
    points = np.zeros(count, mf.numpy_dtype(generated.Point))
    points["x"] = np.arange(count)
    moved = math.move(points, 1.5, options=OPTIONS)
    assert moved.dtype == points.dtype
    assert moved["x"].tolist() == [each + 1.5 for each in range(count)]
    assert math.move(points, 1.5)[-1] == generated.Point(count + 0.5, 1.5)
    assert seen.types == [kind_of(seen)] * 2


def test_lists_inside_of_a_struct_are_arrays(math: Any, generated: Any, seen: Seen) -> None:
    cloud = generated.Cloud("c", [generated.Point(1.0, 2.0)], np.ones(3, "f4"))
    kept = math.keep(cloud, options=OPTIONS)
    assert (kept.name, kept.points.tolist(), kept.weights.tolist()) == ("c", [(1.0, 2.0)], [1.0] * 3)
    assert seen.types == [kind_of(seen)] * 2


def test_batches_and_bulks_have_arrays_too(math: Any, generated: Any) -> None:
    requests = [generated.MathDoubleRequest([float(each)]) for each in range(3)]
    outcomes = math.double_batch(requests, options=mf.BatchOptions(arrays=True)).results()
    outcomes += math.double_bulk(requests, options=OPTIONS)
    assert [type(each.value()) for each in outcomes] == [np.ndarray] * 6
    assert [each.value().tolist() for each in outcomes] == [[0.0], [2.0], [4.0]] * 2


def test_values_of_streams_are_arrays(math: Any, seen: Seen) -> None:
    assert [type(each) for each in math.rows(3, options=OPTIONS)] == [np.ndarray] * 3
    assert [type(each) for each in math.rows(3)] == [list] * 3
    assert math.sum([[1.0, 2.0], np.ones(4)]) == 7.0
    assert seen.types == [kind_of(seen)] * 2


def test_a_cached_answer_is_not_taken_for_an_array(math: Any) -> None:
    assert math.primes() == [2, 3, 5]
    found = math.primes(options=OPTIONS)
    assert type(found) is np.ndarray
    assert math.primes() == [2, 3, 5]


def test_awaited_calls_have_arrays_too(generated: Any, seen: Seen) -> None:
    class Halves(generated.HalvesAsyncServant):  # type: ignore[misc]
        mf_arrays = seen.arrays

        async def half(self, values: Any) -> Any:
            return np.asarray(seen.note(values)) / 2

    async def call() -> Any:
        async with mf.AsyncServer("tcp://127.0.0.1:0") as server:
            server.offer(Halves())
            async with mf.AsyncClient(server.address) as client:
                return await generated.HalvesAsyncClient(client).half([2.0, 4.0], options=OPTIONS)

    found = asyncio.run(call())
    assert (type(found), found.tolist()) == (np.ndarray, [1.0, 2.0])
    assert seen.types == [kind_of(seen)]


def test_options_say_that_arrays_are_wanted() -> None:
    assert "arrays=True" in repr(OPTIONS)
    assert "arrays" not in repr(mf.CallOptions())


def test_without_numpy_a_call_for_arrays_is_not_sent(
    math: Any, generated: Any, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    generated.MATH_SERVICE.methods[1].arrayed.cache_clear()
    with pytest.raises(ImportError, match="pip install numpy"):
        math.move([], 1.0, options=OPTIONS)
    assert seen.types == []
