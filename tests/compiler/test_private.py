"""A folder or file that another user could change is not used as a cache."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mfidl import cache, private
from mfidl.emit.render import environment

OTHER_USER = 12345


def owned_by_another(path: Path) -> None:
    os.chown(path, OTHER_USER, -1, follow_symlinks=False)


def writable_by_all(path: Path) -> None:
    path.chmod(0o777)


def writable_by_the_group(path: Path) -> None:
    path.chmod(0o770)


SPOILED = [owned_by_another, writable_by_all, writable_by_the_group]


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_folder_that_others_could_change_is_refused(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    folder = tmp_path / "cache"
    folder.mkdir(0o700)
    assert private.objection(str(folder)) is None

    spoil(folder)
    assert str(folder) in (private.objection(str(folder)) or "")
    with pytest.raises(PermissionError):
        private.make_folder(str(folder))


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_folder_above_that_others_could_change_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    above, folder = tmp_path / "above", tmp_path / "above/one/cache"
    folder.mkdir(0o700, parents=True)
    spoil(above)

    assert str(above) in (private.objection(str(folder)) or "")


def test_in_a_folder_with_the_sticky_bit_only_files_of_this_user_are_private(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "ours").mkdir(0o700)
    (tmp_path / "theirs").mkdir(0o700)
    owned_by_another(tmp_path / "theirs")

    assert private.objection(str(tmp_path / "ours")) is None
    assert private.objection(str(tmp_path / "theirs/cache")) is not None
    assert private.objection(str(tmp_path)) is not None


def test_links_are_followed_one_by_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o700)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "chain").symlink_to(tmp_path / "link")
    (tmp_path / "round").symlink_to("round")
    assert private.objection(str(tmp_path / "chain")) is None
    assert "more than" in (private.objection(str(tmp_path / "round")) or "")

    owned_by_another(tmp_path / "link")
    assert str(tmp_path / "link") in (private.objection(str(tmp_path / "chain")) or "")


def test_missing_folders_are_made_for_this_user_alone(tmp_path: Path) -> None:
    folder = tmp_path / "one/two"
    assert private.objection(str(folder)) is None

    private.make_folder(str(folder))
    assert [stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)] == [0o700, 0o700]


@pytest.mark.parametrize("spoil", SPOILED)
def test_a_file_that_others_could_change_is_not_read(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "file"
    private.write_file(str(path), b"content")
    assert private.read_file(str(path)) == b"content"

    spoil(path)
    assert private.read_file(str(path)) is None
    private.write_file(str(path), b"new")
    assert private.read_file(str(path)) == b"new"


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "file").write_text("content")

    assert [private.read_file(str(tmp_path / name)) for name in ("pipe", "link", "none", ".")] == [None] * 4


def test_a_cache_that_others_could_change_is_reported_once_and_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("MFIDL_CACHE", str(folder))

    assert [cache.folder(), cache.folder()] == [None, None]
    assert capsys.readouterr().err == (
        f"mfidlc: the cache `{folder}` is not used, because other users may write to `{folder}`;"
        " MFIDL_CACHE names another folder\n"
    )


def test_bytecode_of_templates_that_another_user_wrote_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setenv("MFIDL_CACHE", "")
    (tmp_path / "one.j2").write_text("right")
    assert environment(tmp_path).get_template("one.j2").render() == "right"
    [kept] = (tmp_path / "__pycache__").glob("*.bin")
    before = (tmp_path / "one.j2").stat()
    (tmp_path / "one.j2").write_text("wrong")
    os.utime(tmp_path / "one.j2", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert environment(tmp_path).get_template("one.j2").render() == "right"

    owned_by_another(kept)
    assert environment(tmp_path).get_template("one.j2").render() == "wrong"
