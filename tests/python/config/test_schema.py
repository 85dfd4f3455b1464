"""docs/config.schema.json and docs/configuration.md are what the keys say, and the schema takes and refuses
the files that `load` does.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from tools.config_schema import PAGE, PATH, page, schema

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "config/cases.json").read_text())
# What a schema cannot say, or sees otherwise: 4.0 is an integer in JSON, which has no NaN.
BEYOND = (
    "what only fits together",
    "windows that are too much together",
    "metadata that is not passed on",
    "a number in place of an integer",
    "seconds that are none",
)
FILES = [case for case in CASES if "no_toml_at" not in case and "environment" not in case]


def test_the_files_are_those_that_the_tool_writes() -> None:
    assert PATH.read_text() == schema(), "run python -m tools.config_schema"
    assert PAGE.read_text() == page(), "run python -m tools.config_schema"
    Draft7Validator.check_schema(json.loads(schema()))


@pytest.mark.parametrize("case", FILES, ids=lambda case: case["name"])
def test_it_refuses_what_load_refuses(case: dict[str, Any]) -> None:
    if case["name"] not in BEYOND:
        validator = Draft7Validator(json.loads(schema()))

        assert validator.is_valid(tomllib.loads(case["file"])) == ("values" in case)
