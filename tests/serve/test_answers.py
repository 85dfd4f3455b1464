"""What the playground answers, without its server: texts in, JSON out."""

import json
from typing import Any

import pytest

from mfidl.places import TEMPLATES
from mfidl.serve.answers import answer

SHOP = """module shop;
enum Currency: u8 { none = 0, eur = 1 }
struct Money { amount: i64; currency: Currency; }
struct Article { name: string @length(1..9); price: Money; tags: list<string>; }
service Shop { @idempotent find(text: string) -> list<Article>; }
"""


def _schema(text: str, older: str | None = None) -> dict[str, Any]:
    return answer({"ask": "schema", "schema": text, "older": older})


def _value(type_: str, **given: str) -> dict[str, Any]:
    return answer({"ask": "value", "schema": SHOP, "type": type_, **given})


def test_a_valid_schema_becomes_all_that_the_page_shows() -> None:
    found = _schema(SHOP)
    assert found["diagnostics"] == []
    paths = [(each["language"], each["path"]) for each in found["files"]]
    assert ("cpp", "shop.hpp") in paths
    assert {language for language, _ in paths} == {"cpp", "python"}
    header = next(each["text"] for each in found["files"] if each["path"] == "shop.hpp")
    assert "struct Money" in header
    assert [each["name"] for each in found["pictures"]] == ["struct Money", "struct Article"]
    assert found["explained"].startswith("module shop")
    assert found["types"] == ["Money", "Article", "Shop.find.params", "Shop.find.results", "Currency"]
    assert "changes" not in found


def test_a_mistake_has_its_line_and_nothing_is_generated() -> None:
    found = _schema("module a;\nstruct B { c: strng; }\n")
    [mistake] = found["diagnostics"]
    assert (mistake["code"], mistake["line"], mistake["column"]) == ("E0301", 2, 15)
    assert mistake["help"] == "did you mean `string`?"
    assert "files" not in found


def test_advice_of_lint_is_shown_but_not_about_the_name_of_the_file() -> None:
    found = _schema("module a;\nstruct b { c: u8; }\n")
    assert [(each["code"], each["severity"]) for each in found["diagnostics"]] == [("L0101", "warning")]
    assert found["files"]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("/etc/passwd", "E0207"),
        ("../etc/passwd", "E0207"),
        ("etc/passwd", "E0203"),
        ("mf/controller.mfidl", "E0203"),
        ("schema.mfidl", "E0204"),
    ],
)
def test_no_file_can_be_imported(target: str, code: str) -> None:
    found = _schema(f'module a;\nimport "{target}";\nstruct B {{ c: u8; }}\n')
    assert [each["code"] for each in found["diagnostics"]] == [code]
    assert "root:" not in json.dumps(found)


def test_an_import_that_is_missing_does_not_name_what_the_folder_has() -> None:
    found = _schema('module a;\nimport "pyproject.tom";\nimport "README.mfidl";\nstruct B { c: u8; }\n')
    assert [each["code"] for each in found["diagnostics"]] == ["E0203", "E0203"]
    assert "did you mean" not in json.dumps(found)


def test_a_change_is_compared_with_the_older_text() -> None:
    found = _schema(SHOP, SHOP.replace(" tags: list<string>;", ""))
    assert found["older"] == []
    [change] = found["changes"]
    assert (change["code"], change["line"], change["severity"]) == ("B0201", 4, "warning")
    assert (change["notes"][0]["message"], change["notes"][0]["line"]) == ("before", 4)
    assert _schema(SHOP, SHOP)["changes"] == []


def test_an_older_text_with_mistakes_is_compared_with_nothing() -> None:
    found = _schema(SHOP, "module shop;\nstruct A { b: c; }\n")
    assert [(each["code"], each["line"]) for each in found["older"]] == [("E0301", 2)]
    assert "changes" not in found


def test_json_becomes_bytes_and_the_bytes_become_the_same_json() -> None:
    text = '{"name": "tea", "price": {"amount": "5", "currency": "eur"}, "tags": ["a"]}'
    made = _value("Article", json=text)
    assert "failure" not in made
    assert made["tier"] == "febird"
    assert made["hex"] == "03746561" + "0500000000000000" + "0100000000000000" + "010161"
    back = _value("Article", hex=made["hex"])
    assert json.loads(back["json"]) == json.loads(made["json"])
    assert back["bytes"] == made["bytes"]
    assert "Article.price.amount" in made["bytes"]


def test_a_type_begins_with_an_example() -> None:
    made = _value("Money")
    assert json.loads(made["json"]) == {"amount": "1000", "currency": "none"}
    assert made["hex"] == "e803000000000000" + "0000000000000000"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"json": "{"}, "JSON:1:2"),
        (
            {"json": '{"name": "", "price": {"amount": 1, "currency": 1}, "tags": []}'},
            "length 0 is not in 1..9",
        ),
        ({"hex": "0374"}, "length 3, but 1 byte left"),
        ({"hex": "0"}, "pairs of the hexadecimal digits"),
        ({"hex": "zz"}, "pairs of the hexadecimal digits"),
    ],
)
def test_what_is_no_value_is_refused_with_its_place(given: dict[str, str], reason: str) -> None:
    assert reason in _value("Article", **given)["failure"]


def test_a_type_that_is_not_there_and_a_schema_with_errors_have_no_values() -> None:
    assert "Artcle" in _value("Artcle")["failure"]
    broken = answer({"ask": "value", "schema": "module", "type": "A", "json": "1"})
    assert broken == {"failure": "the schema has errors"}


@pytest.mark.parametrize("question", [{}, {"ask": 1}, {"ask": "file", "schema": "/etc/passwd"}])
def test_other_questions_have_no_answer(question: dict[str, Any]) -> None:
    assert set(answer(question)) == {"failure"}


def test_the_first_schema_of_the_page_is_valid_and_its_change_breaks_something() -> None:
    with open(f"{TEMPLATES}/serve/example.mfidl") as newer, open(f"{TEMPLATES}/serve/older.mfidl") as older:  # noqa: PTH123
        found = _schema(newer.read(), older.read())
    assert found["diagnostics"] == []
    assert found["older"] == []
    assert {each["code"] for each in found["changes"]} == {"B0201", "B0301"}
