"""The hatch build hook: a project's wheel carries what its schemas make."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = """\
[build-system]
requires = ["hatchling", "mfidl"]
build-backend = "hatchling.build"

[project]
name = "shop"
version = "1.0"

[tool.hatch.build.targets.wheel]
packages = ["src/shop"]

[tool.hatch.build.hooks.mfidl]
files = ["schemas/**/*.mfidl"]
import-paths = ["schemas"]
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/__init__.py").write_text("from store.order import Order\n")
    (tmp_path / "schemas/store").mkdir(parents=True)
    (tmp_path / "schemas/store/item.mfidl").write_text("module store.item;\nstruct Item { name: string; }\n")
    (tmp_path / "schemas/store/order.mfidl").write_text(
        'module store.order;\nimport "store/item.mfidl";\nstruct Order { items: list<store.item.Item>; }\n'
    )
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return tmp_path


def pip_wheel(project: Path) -> subprocess.CompletedProcess[str]:
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "wheel", *options, "-w", str(project / "dist"), str(project)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=100, check=False)


def wheel(project: Path) -> Path:
    done = pip_wheel(project)
    assert done.returncode == 0, done.stdout + done.stderr
    [made] = (project / "dist").glob("*.whl")
    return made


def test_a_wheel_carries_the_generated_packages(project: Path) -> None:
    made = wheel(project)
    names = set(zipfile.ZipFile(made).namelist())

    assert {"shop/__init__.py", "store/order/__init__.py", "store/item/_types.py", "store/py.typed"} <= names
    assert not (project / "src/store").exists()
    installed = project / "installed"
    zipfile.ZipFile(made).extractall(installed)
    path = os.pathsep.join((str(installed), str(ROOT / "runtime/python")))
    code = "import shop; from store.item import Item; print(shop.Order([Item('bolt')]))"
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "Order(items=[Item(name='bolt')])\n", done.stderr


def test_the_code_can_be_kept_and_imported_below_a_package(project: Path) -> None:
    more = 'python-package = "shop.generated"\nout = "src"\n'
    (project / "pyproject.toml").write_text(PROJECT + more)
    (project / "src/shop/__init__.py").write_text("")
    names = set(zipfile.ZipFile(wheel(project)).namelist())

    assert "shop/generated/store/order/__init__.py" in names
    assert "store/order/__init__.py" not in names
    assert (project / "src/shop/generated/store/order/__init__.py").exists()


def test_a_mistake_stops_the_build_with_the_compilers_words(project: Path) -> None:
    (project / "schemas/store/item.mfidl").write_text("module store.item;\nstruct Item { name: strin; }\n")
    done = pip_wheel(project)

    assert done.returncode != 0
    said = done.stdout + done.stderr
    assert "error[E0301]: unknown type `strin`" in said
    assert "schemas/store/item.mfidl:2:21" in said
    assert "Traceback" not in said
    assert list(project.glob("dist/*")) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("import-paths", "import_paths", "there is no option import_paths; there are files, import-paths"),
        ("**/*.mfidl", "*.idl", "files has 'schemas/*.idl', and no schema matches it"),
    ],
)
def test_a_wrong_option_is_told(project: Path, old: str, new: str, said: str) -> None:
    (project / "pyproject.toml").write_text(PROJECT.replace(old, new))
    done = pip_wheel(project)

    assert done.returncode != 0
    assert said in done.stdout + done.stderr
