"""examples/10_flexible: the programs of the paper, as real processes under a real controller, and what they
are made of against plain computations."""

import importlib
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.plain_index import tokens
from corpus.wordnet import collection_documents
from mf import flex
from tests.conftest import TypeCheck
from tests.interop.peers import BUILD, Peers, Process, peers, stubs

__all__ = ["peers", "stubs"]

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "10_flexible"
PATHS = (ROOT / "runtime" / "python", ROOT / "examples" / "testbed")
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, PATHS))}
LIMIT = 60.0

Start = Callable[..., Process]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    started: list[Process] = []

    def begin(program: str, *arguments: str, language: str = "python") -> Process:
        if language == "python":
            command = [sys.executable, str(FOLDER / f"{program}.py"), *arguments]
        else:
            command = [str(BUILD / "examples" / "10_flexible" / program), *arguments]
        process = Process(command, ENVIRONMENT, tmp_path / f"{program}{len(started)}.err")
        started.append(process)
        return process

    yield begin
    for each in started:
        each.close()


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a module of the example, as its programs do."""
    monkeypatch.syspath_prepend(str(FOLDER))
    yield importlib.import_module
    for name in ("ranks", "collectives", "cg", "wordcount", "farm"):
        sys.modules.pop(name, None)


def test_the_programs_pass_mypy_strict(passes_mypy_strict: TypeCheck) -> None:
    passes_mypy_strict(sorted(FOLDER.glob("*.py")), [FOLDER, *PATHS])


def ended(process: Process) -> str:
    assert process.wait() == 0, process.said()
    return process.output()


def test_example_1(peers: Peers, start: Start) -> None:
    controller = peers.controller().address
    b, a = start("hello", controller, "B"), start("hello", controller, "A")
    assert ended(a) == "B says: the sum is 15\n"
    assert ended(b) == ""


@pytest.mark.parametrize(
    "languages", [["python"] * 3, ["python", "cpp", "cpp"], ["cpp", "python", "cpp"]], ids="+".join
)
def test_conjugate_gradients_of_three_processes_solve_the_graph_of_wordnets_nouns(
    peers: Peers, start: Start, languages: list[str]
) -> None:
    controller = peers.controller().address
    ranks = [
        start("cg", controller, str(rank), "3", "300", language=language)
        for rank, language in enumerate(languages)
    ]
    out = [ended(each) for each in ranks]
    assert out[1:] == ["", ""]
    said = out[0].split()
    assert said[:2] == ["300", "unknowns,"]
    assert 5 < int(said[2]) < 300
    assert float(said[5].rstrip(",")) < 1e-8
    assert said[-1] == "1.000000"  # the Laplacian takes nothing away


def in_ranks(size: int, work: Callable[[flex.Process, int], Any]) -> list[Any]:
    with flex.Node() as node, ThreadPoolExecutor(size) as threads:
        processes = [node.process(f"world.{rank}") for rank in range(size)]
        working = [threads.submit(work, process, rank) for rank, process in enumerate(processes)]
        return [each.result(LIMIT) for each in working]


def test_the_solver_finds_what_numpy_finds(modules: Any) -> None:
    cg, ranks = modules("cg"), modules("ranks")
    count = 120
    whole = cg.laplacian(count, 0, count)
    dense = np.array([whole.times(row) for row in np.eye(count)])
    assert np.array_equal(dense, dense.T)
    b = np.arange(float(count))

    def solve(process: flex.Process, rank: int) -> Any:
        solver = cg.Solver(ranks.Ranks(process, rank, 2))
        return solver.solve(cg.laplacian(count, rank * 60, rank * 60 + 60), b, 60)

    for x, _ in in_ranks(2, solve):
        assert np.allclose(x, np.linalg.solve(dense, b))


@pytest.mark.parametrize("tree", [False, True], ids=["naive", "tree"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
def test_collectives_give_everybody_what_they_promise(modules: Any, size: int, tree: bool) -> None:
    """Buffers of several chunks, and one that fits."""
    collectives, ranks = modules("collectives"), modules("ranks")
    count = 20
    table = np.arange(float(size * count)).reshape(size, count)

    def work(process: flex.Process, rank: int) -> None:
        for chunk in (64, 1 << 20):
            mine = collectives.Collectives(ranks.Ranks(process, rank, size, chunk), tree=tree)
            mine.barrier()
            for root in {0, size - 1}:
                assert np.array_equal(mine.broadcast(table[rank], root), table[root])
                gathered = mine.gather(table[rank], root)
                assert (gathered is None) == (rank != root)
                assert gathered is None or np.array_equal(gathered, table)
                rows = table if rank == root else None
                assert np.array_equal(mine.scatter(rows, count, root), table[rank])
                reduced = mine.reduce(table[rank], np.maximum, root)
                assert reduced is None or np.array_equal(reduced, table.max(0))
            assert np.array_equal(mine.allreduce(table[rank]), table.sum(0))
            by_sender = np.stack([table[rank] + 1000 * sender for sender in range(size)])
            assert np.array_equal(mine.all_to_all(table + 1000 * rank), by_sender)
            mine.barrier()
        assert len(process) == 0

    in_ranks(size, work)


@pytest.mark.parametrize("form", ["naive", "tree"])
@pytest.mark.parametrize("size", [2, 5])
def test_ranks_in_both_languages_make_one_world_of_collectives(
    peers: Peers, start: Start, size: int, form: str
) -> None:
    """Rank 0, which is a root, is of C++ in one world and of Python in the other."""
    controller = peers.controller().address
    ranks = [
        start(
            "collect",
            controller,
            str(rank),
            str(size),
            form,
            language="cpp" if rank % 2 == size % 2 else "python",
        )
        for rank in range(size)
    ]
    for rank, each in enumerate(ranks):
        assert ended(each) == f"rank {rank}: all is as it should be\n"


def test_a_broadcast_as_a_tree_takes_the_root_as_many_messages_as_its_depth(modules: Any) -> None:
    collectives, ranks = modules("collectives"), modules("ranks")

    def sent_by_root(tree: bool) -> int:
        def work(process: flex.Process, rank: int) -> int:
            sent: list[int] = []
            send = process.send
            process.send = lambda *options, **given: sent.append(1) or send(*options, **given)  # type: ignore[method-assign, func-returns-value]
            collectives.Collectives(ranks.Ranks(process, rank, 8), tree=tree).broadcast(np.zeros(4))
            return len(sent)

        return int(in_ranks(8, work)[0])

    assert (sent_by_root(False), sent_by_root(True)) == (7, 3)


@pytest.mark.parametrize("count", [0, 1, 8, 9, 100])
@pytest.mark.parametrize("kind", [list, np.array])
def test_example_3_sends_a_buffer_in_as_many_chunks_as_it_takes(modules: Any, kind: Any, count: int) -> None:
    ranks = modules("ranks")

    def work(process: flex.Process, rank: int) -> Any:
        world = ranks.Ranks(process, rank, 2, chunk_bytes=64)  # eight values
        if rank == 0:
            world.mpi_send_buf(kind(range(100, 300)), 10, count, "i64", 1, "t")
            return None
        into = kind([0] * (count + 5))
        world.mpi_recv_buf(into, 3, count, "i64", 0, "t")
        return list(into)

    assert in_ranks(2, work)[1] == [0] * 3 + list(range(110, 110 + count)) + [0] * 2


def test_a_buffer_of_another_length_is_refused(modules: Any) -> None:
    ranks = modules("ranks")

    def work(process: flex.Process, rank: int) -> None:
        world = ranks.Ranks(process, rank, 2)
        if rank == 0:
            world.mpi_send_buf([1, 2, 3], 0, 3, "i64", 1, "t")
        else:
            with pytest.raises(ValueError, match="rank 0 sends 3 values"):
                world.mpi_recv_buf([0] * 2, 0, 2, "i64", 0, "t")

    in_ranks(2, work)


def plain_count(documents: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for _, document in zip(range(documents), collection_documents("nouns"), strict=False):
        found.update(tokens(document.content))
    return found


@pytest.mark.parametrize(
    "languages", [["python"] * 3, ["cpp", "python", "cpp"], ["python", "cpp", "python"]], ids="+".join
)
def test_words_are_counted_once_although_workers_are_killed(
    peers: Peers, start: Start, languages: list[str]
) -> None:
    """Two that are killed while they work, one after the other, and one that counts the rest."""
    controller = peers.controller().address

    def work(language: str, *piece: str) -> Process:
        if language == "cpp":
            return start("wordcount-worker", controller, *piece, language="cpp")
        return start("wordcount", controller, "work", *piece)

    counter = start("wordcount", controller, "count", "4000")
    for language, piece in zip(languages, ("1", "3"), strict=False):
        assert work(language, piece).wait() == -signal.SIGKILL
    worker = work(languages[2])
    assert worker.line() == "ready"

    out = ended(counter)

    total = plain_count(4000)
    assert out.count("lost ") == 2
    assert f"{sum(total.values())} words, {len(total)} different\n" in out
    assert ended(worker) == ""


@pytest.mark.parametrize("languages", [("python", "python"), ("python", "cpp"), ("cpp", "cpp")], ids="+".join)
def test_a_farm_finds_its_workers_and_calls_methods_of_their_objects(
    peers: Peers, start: Start, languages: tuple[str, str]
) -> None:
    controller = peers.controller().address
    workers = [
        start("farm", controller, "work")
        if each == "python"
        else start("farm-worker", controller, language="cpp")
        for each in languages
    ]
    user = start("farm", controller, "use", "84", "97", "1001", "65536")
    assert ended(user).splitlines() == [
        "84 = 2 x 2 x 3 x 7",
        "97 = 97",
        "1001 = 7 x 11 x 13",
        f"65536 = {' x '.join(['2'] * 16)}",
        "made by 2 workers: 4",
        "ValueError: 0 has no prime factors",
        "AttributeError: there is no method 'burn'",
    ]
    for each in workers:
        assert ended(each) == ""
