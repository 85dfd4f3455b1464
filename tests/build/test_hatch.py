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

    assert {
        "shop/__init__.py",
        "store/order/__init__.py",
        "store/item/_types.py",
        "store/item/py.typed",
    } <= names
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
    (project / "src/shop/__init__.py").write_text("MINE = 1")
    made = zipfile.ZipFile(wheel(project))
    names = made.namelist()

    assert "shop/generated/store/order/__init__.py" in names
    assert "store/order/__init__.py" not in names
    assert len(names) == len(set(names))
    assert made.read("shop/__init__.py") == b"MINE = 1"
    assert (project / "src/shop/__init__.py").read_text() == "MINE = 1"
    assert (project / "src/shop/generated/store/order/__init__.py").exists()


def test_a_package_of_the_project_keeps_its_own_init_in_the_wheel(project: Path) -> None:
    (project / "pyproject.toml").write_text(PROJECT + 'python-package = "shop.generated"\n')
    (project / "src/shop/__init__.py").write_text("MINE = 1")
    made = zipfile.ZipFile(wheel(project))

    assert made.read("shop/__init__.py") == b"MINE = 1"
    assert made.read("shop/generated/__init__.py") == b""


def test_a_project_may_be_its_schemas_alone(project: Path) -> None:
    (project / "src/shop/__init__.py").unlink()
    alone = 'packages = ["src/shop"]'
    (project / "pyproject.toml").write_text(PROJECT.replace(alone, "bypass-selection = true"))

    assert "store/order/__init__.py" in zipfile.ZipFile(wheel(project)).namelist()


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


@pytest.mark.parametrize("kept", [True, False], ids=["kept in the source tree", "installed"])
def test_an_editable_install_finds_the_code(project: Path, kept: bool) -> None:
    more = 'python-package = "shop.generated"\nout = "src"\n' if kept else ""
    (project / "pyproject.toml").write_text(PROJECT + more)
    module = "shop.generated.store.order" if kept else "store.order"
    (project / "src/shop/__init__.py").write_text("MINE = 1")
    installed = project / "installed"
    options = ["--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "-q"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        str(installed),
        "-e",
        str(project),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    code = f"import site; site.addsitedir({str(installed)!r})\n"
    code += f"import shop, {module} as m\nprint(shop.MINE, m.Order([]))"
    path = str(ROOT / "runtime/python")
    said = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert said.stdout == "1 Order(items=[])\n", said.stderr


def test_generated_code_may_import_itself_relatively(project: Path) -> None:
    more = 'python-package = "shop.generated"\npython-relative = true\n'
    (project / "pyproject.toml").write_text(PROJECT + more)
    (project / "src/shop/__init__.py").write_text("from .generated.store.order import Order\n")
    made = zipfile.ZipFile(wheel(project))

    assert b"from ..item._types import Item" in made.read("shop/generated/store/order/_types.py")


def test_a_flag_that_is_none_is_told(project: Path) -> None:
    (project / "pyproject.toml").write_text(PROJECT + 'python-relative = "yes"\n')
    done = pip_wheel(project)

    assert "tool.hatch.build.hooks.mfidl: python-relative is true or false" in done.stdout + done.stderr
