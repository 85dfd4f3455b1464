"""Which unix sockets are trusted although another process has named their paths; the same as
tests/cpp/transport/trust_test.cpp."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mf.transport.address import Address
from mf.transport.sockets import Dialer, Listening
from mf.transport.trust import Trust

OTHER = 54_321  # a user

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to other users")


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o755)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        listener.listen()
        yield folder / "s"


def test_a_socket_of_the_user_in_a_folder_of_the_user_is_trusted(path: Path) -> None:
    assert Trust().refusal(str(path)) == ""


def test_a_socket_of_another_user_is_trusted_only_if_that_user_is_named(path: Path) -> None:
    os.chown(path, OTHER, OTHER)
    assert Trust().refusal(str(path)) == f"{path} belongs to user {OTHER}"
    assert Trust([OTHER]).refusal(str(path)) == ""


def test_a_folder_that_others_may_write_to_is_not_trusted(path: Path) -> None:
    path.parent.chmod(0o777)
    assert Trust().refusal(str(path)) == f"other users may write to {path.parent}"
    path.parent.chmod(0o775)
    assert Trust().refusal(str(path)) == f"other users may write to {path.parent}"


def test_a_socket_of_the_user_in_a_folder_with_the_sticky_bit_is_trusted(path: Path) -> None:
    path.parent.chmod(0o1777)
    assert Trust().refusal(str(path)) == ""
    os.chown(path, OTHER, OTHER)
    assert Trust().refusal(str(path)) == f"{path} belongs to user {OTHER}"


def test_a_folder_of_another_user_is_not_trusted_however_far_above(path: Path) -> None:
    above = path.parent.parent
    os.chown(above, OTHER, OTHER)
    assert Trust().refusal(str(path)) == f"{above} belongs to user {OTHER}"


def test_a_path_that_is_no_socket_or_does_not_exist_is_not_trusted(path: Path) -> None:
    file = path.with_name("file")
    file.touch()
    assert Trust().refusal(str(file)) == f"{file} is no socket"
    assert "no such file" in Trust().refusal(str(path.with_name("nothing")))


def test_a_link_is_followed_to_the_folder_that_it_names(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path.parent)
    assert Trust().refusal(str(link / "s")) == ""
    path.parent.chmod(0o777)
    assert Trust().refusal(str(link / "s")) == f"other users may write to {path.parent}"


def test_the_user_of_the_process_at_the_other_end_is_checked(tmp_path: Path) -> None:
    address = Address.parse(f"unix:{tmp_path / 'own'}")
    listening = Listening(address)
    stream = Dialer().connect(address, 5.0)
    assert Trust().refusal_of_peer(stream) == ""
    stream.close()
    listening.close()
