"""Unix sockets: paths that are free, taken, left behind, missing or not ours."""

import fcntl
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from mf.transport.address import Address
from mf.transport.sockets import Dialer, Listening, exists_here
from mf.transport.stream import Stream


def at(path: Path) -> Address:
    return Address.parse(f"unix:{path}")


def refusal(path: Path) -> str:
    with pytest.raises(OSError, match="cannot listen") as raised:
        Listening(at(path))
    return str(raised.value.args[-1])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s"


def test_it_connects_and_names_who_is_there(path: Path) -> None:
    listening = Listening(at(path))
    ours = Dialer().connect(at(path), 5.0)
    theirs = listening.accept()

    assert ours.peer == f"unix:{path}"
    assert theirs.peer == f"unix:{path} (process {os.getpid()}, user {os.getuid()})"
    assert ours.write_now([b"hel", b"lo"]) == 5
    window = memoryview(bytearray(16))
    assert bytes(window[: theirs.read(window)]) == b"hello"
    with pytest.raises(BlockingIOError):
        theirs.read(window)
    with pytest.raises(BlockingIOError):
        listening.accept()
    for each in (ours, theirs, listening):
        each.close()


def test_the_path_is_removed_when_its_listener_closes(path: Path) -> None:
    listening = Listening(at(path))
    assert exists_here(at(path))
    listening.close()

    assert not path.exists()
    assert not exists_here(at(path))


def test_a_path_that_another_has_taken_since_is_left_alone(path: Path) -> None:
    listening = Listening(at(path))
    path.unlink()
    path.write_text("another's")
    listening.close()

    assert path.read_text() == "another's"


def test_what_a_dead_server_has_left_is_replaced(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    assert path.exists()
    listening = Listening(at(path))

    Dialer().connect(at(path), 5.0).close()
    listening.close()


def test_of_servers_that_start_at_once_one_takes_the_path(path: Path) -> None:
    def start() -> Listening | None:
        together.wait()
        try:
            return Listening(at(path))
        except OSError:
            return None

    together = Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        for round_ in range(25):
            if round_ % 2 == 0:
                with socket.socket(socket.AF_UNIX) as dead:
                    dead.bind(str(path))
            started = [each for each in threads.map(lambda _: start(), range(4)) if each is not None]
            assert len(started) == 1
            Dialer().connect(at(path), 5.0).close()
            started[0].close()
    assert list(path.parent.iterdir()) == []


def test_a_path_that_is_taken_is_refused_in_words(path: Path) -> None:
    listening = Listening(at(path))

    why = "the path is taken, by a server that listens there or a file that is no socket"
    assert refusal(path) == f"cannot listen on unix:{path}: {why}"
    Dialer().connect(at(path), 5.0).close()
    listening.close()


def test_a_file_that_is_no_socket_is_left_alone(path: Path) -> None:
    path.write_text("precious")

    assert "a file that is no socket" in refusal(path)
    assert path.read_text() == "precious"


def test_a_folder_that_is_missing_or_not_ours_is_refused_in_words(path: Path) -> None:
    assert refusal(path.parent / "none" / "s").endswith("/none/s: no such file or directory")
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    path.parent.chmod(0o500)
    assert refusal(path).endswith(": permission denied")


def test_nobody_there_is_an_error_in_words(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Dialer().connect(at(path), 5.0)


def test_a_full_queue_is_waited_for_no_longer_than_the_timeout(path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(0)
    queued: list[Stream] = []

    def fill() -> None:
        for _ in range(8):
            queued.append(Dialer().connect(at(path), 0.02))

    with pytest.raises(TimeoutError, match="Connection timed out"):
        fill()
    for stream in queued:
        stream.close()
    listener.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other users")
def test_a_lock_that_another_user_holds_does_not_prevent_listening(path: Path) -> None:
    lock = path.with_name("s.lock")
    with lock.open("w") as file:
        os.chown(lock, 54_321, 54_321)
        lock.chmod(0o666)
        fcntl.flock(file, fcntl.LOCK_EX)
        listening = Listening(at(path))
    listening.close()
    assert lock.exists()  # it is the other user's
