"""--python-relative: generated packages that import themselves wherever they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from mfidl.compiler import Exit, Targets, check, compile_files
from mfidl.emit.output import EmitOptions
from mfidl.emit.python import generate
from tests.mypy import mypy_cache

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
MODULES = {
    "money.mfidl": "module money;\nstruct Price { cents: u32; }\n",
    "shop/item.mfidl": 'module shop.item;\nimport "money.mfidl";\n'
    "struct Item { name: string; price: money.Price; }\n",
    "shop.mfidl": 'module shop;\nimport "shop/item.mfidl";\nimport "money.mfidl";\n'
    "error Sold { price: money.Price; }\n"
    "service Till { buy(item: shop.item.Item) -> money.Price throws Sold; }\n"
    "topic Sales : shop.item.Item;\n",
}
CALL = """
import mf, sys
from {package} import shop
from {package}.money import Price
from {package}.shop.item import Item

class Till(shop.TillServant):
    def buy(self, item: Item) -> Price:
        if item.name == "bolt":
            raise shop.Sold(item.price)
        return Price(item.price.cents + 1)

server = mf.Server("tcp://127.0.0.1:0")
server.offer(Till())
with server:
    with mf.Client(server.address) as client:
        till = shop.TillClient(client)
        print(till.buy(Item("nut", Price(3))))
        try:
            till.buy(Item("bolt", Price(4)))
        except shop.Sold as error:
            print(error.price)
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"shop", "money"}}))
"""


def compiled(out: Path, prefix: str = "", *, is_relative: bool = True) -> Path:
    schemas = out.parent / "schemas"
    for path, text in MODULES.items():
        (schemas / path).parent.mkdir(parents=True, exist_ok=True)
        (schemas / path).write_text(text)
    paths = [str(schemas / path) for path in MODULES]
    targets = Targets(python=str(out), python_package=prefix, is_relative=is_relative)
    outcome = compile_files(paths, [str(schemas)], targets)
    assert outcome.exit is Exit.OK, [each.message for each in outcome.diagnostics]
    return out


def run(text: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    env = {"PYTHONPATH": f"{ROOT / 'runtime/python'}:{folder}"}
    command = [sys.executable, "-c", text]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("package", ["vendored", "acme.deep.stubs"])
def test_an_output_folder_may_be_a_package_of_any_name(package: str, tmp_path: Path) -> None:
    compiled(tmp_path / package.replace(".", "/"))
    done = run(CALL.format(package=package), tmp_path)

    assert done.stdout == "Price(cents=4)\nPrice(cents=4)\n[]\n", done.stderr


def test_without_the_option_the_modules_are_searched_where_they_were_generated_for(tmp_path: Path) -> None:
    compiled(tmp_path / "vendored", is_relative=False)
    done = run(CALL.format(package="vendored"), tmp_path)

    assert "No module named" in done.stderr


def test_two_copies_of_one_module_do_not_disturb_each_other(tmp_path: Path) -> None:
    compiled(tmp_path / "one")
    compiled(tmp_path / "two")
    done = run("import one.shop, two.shop; print(one.shop.Sold is two.shop.Sold)", tmp_path)

    assert done.stdout == "False\n", done.stderr


def test_a_prefix_and_relative_imports_go_together(tmp_path: Path) -> None:
    compiled(tmp_path / "out", "acme.generated")
    (tmp_path / "out/acme/generated").rename(tmp_path / "moved")
    done = run(CALL.format(package="moved"), tmp_path)

    assert done.stdout == "Price(cents=4)\nPrice(cents=4)\n[]\n", done.stderr


@pytest.mark.parametrize("case", sorted(each.name for each in (GOLDEN / "python").iterdir()))
def test_nothing_but_imports_differs(case: str) -> None:
    folder = next(
        path
        for path in (GOLDEN / "python" / case / "schema", GOLDEN / "cpp" / case / "schema")
        if path.is_dir()
    )
    outcome = check([str(each) for each in sorted(folder.rglob("*.mfidl"))], [str(folder)])
    assert outcome.program is not None
    absolute, relative = (
        {each.path: body(each.text) for each in generate(outcome.program, EmitOptions("x", is_relative=on))}
        for on in (False, True)
    )

    assert relative == absolute
    texts = [each.text for each in generate(outcome.program, EmitOptions("x", is_relative=True))]
    assert not any(re.search(r"^ *from x\b", text, re.MULTILINE) for text in texts)


def body(text: str) -> list[str]:
    """The lines without imports, which are in another order too."""
    plain = re.sub(r"^from [.x]\S* import (\([^)]*\)|.*)\n", "", text, flags=re.MULTILINE)
    return [line for line in plain.splitlines() if line]


def test_the_linter_finds_nothing(tmp_path: Path) -> None:
    out = compiled(tmp_path / "vendored")
    rules = ["--select=I,F,E,TID251", "--ignore-noqa", "--ignore=E501,E402", "--isolated", "--no-cache"]
    init = [f"--exclude={path}" for path in out.rglob("__init__.py")]  # which asks for its version first
    linted = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *rules, *init, str(out)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert linted.returncode == 0, linted.stdout


@pytest.mark.timeout(300)
def test_the_type_checker_finds_nothing(tmp_path: Path) -> None:
    compiled(tmp_path / "vendored")
    (tmp_path / "vendored/py.typed").touch()
    command = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases", "vendored"]
    env = {"MYPYPATH": str(ROOT / "runtime/python"), "MYPY_CACHE_DIR": mypy_cache("bases")}
    typed = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=280
    )

    assert typed.returncode == 0, typed.stdout + typed.stderr
