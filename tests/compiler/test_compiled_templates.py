"""The bytecode of templates is never older than the templates."""

import os
import shutil
from pathlib import Path

import pytest

from mfidl.emit.render import environment
from mfidl.places import TEMPLATES


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    monkeypatch.setenv("MFIDL_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "templates"
    shutil.copytree(TEMPLATES, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "one.j2").write_text("1 {% include 'two.j2' %}")
    (folder / "two.j2").write_text("2 {{ name }}")
    return folder


def text(folder: Path) -> str:
    return environment(folder).get_template("one.j2").render(name="x")


def kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.bin"))


def test_bytecode_is_kept_beside_the_templates_and_used(templates: Path) -> None:
    assert text(templates) == "1 2 x"
    [path] = kept(templates)
    before = path.stat().st_mtime_ns

    environment_ = environment(templates)
    environment_.loader._sources = None  # type: ignore[union-attr]
    assert environment_.get_template("one.j2").render(name="y") == "1 2 y"
    assert path.stat().st_mtime_ns == before


def test_an_edited_template_is_compiled_anew(templates: Path) -> None:
    text(templates)
    (templates / "two.j2").write_text("3 {{ name }}")
    os.utime(templates / "two.j2", ns=(0, 1))

    assert text(templates) == "1 3 x"
    (templates / "new.j2").write_text("new")
    assert environment(templates).get_template("new.j2").render() == "new"


def test_damaged_bytecode_is_made_anew(templates: Path) -> None:
    text(templates)
    [path] = kept(templates)
    path.write_bytes(path.read_bytes()[:-1])

    assert text(templates) == "1 2 x"


def test_where_bytecode_is_not_wanted_the_cache_keeps_it(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)

    assert text(templates) == "1 2 x"
    assert kept(templates) == []
    assert len(kept(templates.parent / "cache")) == 1


def test_without_any_place_to_keep_it_templates_work(
    templates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.setenv("MFIDL_CACHE", "")

    assert text(templates) == "1 2 x"
    assert kept(templates.parent) == []
