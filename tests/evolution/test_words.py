"""What a call says that fails since schemas differ: the peer, the method, the way and the cause, alike in
both languages and in all forms of a call. A bulk gives an outcome for each item, and throws what its message
fails with as a whole.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.evolution.callers import Awaited, Blocking, Caller, Cpp, End
from tests.evolution.serving import servant_of, served
from tests.interop.peers import BUILD, Process
from tests.python.conftest import eventually
from tests.python.controller.test_controller import Running

CALLERS = ("cpp", "python", "asyncio")
TOO_LARGE = "Forms.{method}: parameter item.id: {number} does not fit u16 of the server's schema"
GONE = "Forms.gone: method only here"
APART = "Forms.apart: parameter x: u32 here, string there"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cpp]:
    path = BUILD / "tests/evolution/evolution-caller"
    if not path.is_file():
        pytest.fail(f"{path} is missing: cmake --build --preset release --target evolution-caller")
    made = Cpp(Process([str(path)], {}, tmp_path_factory.mktemp("caller") / "stderr"))
    yield made
    made.close()


@pytest.fixture(params=CALLERS)
def caller(request: pytest.FixtureRequest, mid: Any) -> Iterator[Caller]:
    if request.param == "cpp":
        yield request.getfixturevalue("program")
        return
    made: Caller = Blocking(mid) if request.param == "python" else Awaited(mid)
    yield made
    made.close()


def lost(peer: str, method: str, number: int, *, thrown: bool = False) -> End:
    words = TOO_LARGE.format(method=method, number=number)
    return End("INVALID_ARGUMENT", "NOT_EXECUTED", f"{peer}: {words}", thrown)


def test_a_value_that_does_not_go_over_fails_its_call_and_its_item_alone(caller: Caller, old: Any) -> None:
    with served(servant_of(old)) as server:
        peer = server.address
        caller.connect(peer)
        for method in ("echo", "note"):
            call = lost(peer, method, 70_000, thrown=True)
            assert caller.call("call", method, [70_000]) == [call]
            for way in ("batch", "bulk"):
                for numbers in ([1], [1, 70_000, 2], [70_000], [70_000, 80_000]):
                    wanted = [End() if n < 70_000 else lost(peer, method, n) for n in numbers]
                    assert caller.call(way, method, numbers) == wanted, (way, numbers)
        (ended,) = caller.call("async", "echo", [70_000])
        assert ended.message == lost(peer, "echo", 70_000).message


@pytest.mark.parametrize(
    ("method", "code", "words"),
    [("gone", "UNKNOWN_METHOD", GONE), ("apart", "SCHEMA_MISMATCH", APART)],
)
def test_a_method_that_cannot_be_called_names_the_server_and_is_thrown_by_a_bulk(
    caller: Caller, new: Any, method: str, code: str, words: str
) -> None:
    with served(servant_of(new)) as server:
        caller.connect(server.address)
        wanted = End(code, "NOT_EXECUTED", f"{server.address}: {words}", True)
        outcome = End(code, "NOT_EXECUTED", wanted.message)
        assert caller.call("call", method, [1]) == [wanted]
        assert [each.message for each in caller.call("async", method, [1])] == [wanted.message]
        assert caller.call("batch", method, [1, 2]) == [outcome, outcome]
        for numbers in ([1], [1, 2]):
            assert caller.call("bulk", method, numbers) == [wanted]


@pytest.fixture
def controller() -> Iterator[Running]:
    running = Running()
    yield running
    running.stop()


@pytest.mark.parametrize(("method", "words"), [("gone", GONE), ("apart", APART)])
def test_where_all_of_several_servers_refuse_that_is_said_with_the_reason_of_one(
    caller: Caller, new: Any, controller: Running, method: str, words: str
) -> None:
    with ExitStack() as stack:
        at = controller.address
        of_all = [stack.enter_context(served(servant_of(new), controller=at)) for _ in range(3)]
        assert eventually(lambda: len(controller.servant.instances()) == len(of_all))
        caller.connect(at)
        said = [f"all servers of forms.Forms have another schema: {each.address}: {words}" for each in of_all]
        for way in ("call", "async", "batch", "bulk"):
            for end in caller.call(way, method, [1]):
                assert end.message in said
