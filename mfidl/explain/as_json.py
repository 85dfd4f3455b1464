"""Reports as JSON: the dataclasses of `report`, field by field (docs/explain.md)."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from mfidl.explain.report import ModuleReport

VERSION = 1


def render_json(modules: Sequence[ModuleReport]) -> str:
    data = {"version": VERSION, "modules": [asdict(each) for each in modules]}
    return json.dumps(data, indent=2) + "\n"
