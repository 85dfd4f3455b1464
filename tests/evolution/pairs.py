"""The pairs of schemas in tests/vectors/evolution as Python that was generated for them: of each the older
and the newer, in packages of their own.
"""

import importlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mf.core.service import Method, ServiceInfo

FOLDER = Path(__file__).parents[1] / "vectors" / "evolution"
NAMES = tuple(path.parent.name for path in sorted(FOLDER.glob("*/cases.json")))
SIDES = ("old", "new")


def sides(direction: str) -> tuple[str, str]:
    """The consumer's and the provider's."""
    consumer, _, provider = direction.partition("_to_")
    return consumer, provider


@dataclass(frozen=True)
class Side:
    """One schema of a pair, generated."""

    service: ServiceInfo
    client: type[Any]
    async_client: type[Any]
    servant: type[Any]

    @property
    def methods(self) -> dict[str, Method[Any, Any]]:
        return {method.name: method for method in self.service.methods}


def generate(schema: Path, package: str, into: Path) -> None:
    command = [sys.executable, "-c", "from mfidl.cli import main; main()", "compile", str(schema)]
    command += ["--python", str(into), "--python-package", package]
    subprocess.run(command, check=True, timeout=100)


def load(package: str, service: str) -> Side:
    """`service`: its full name."""
    module, _, name = service.rpartition(".")
    found: Any = importlib.import_module(f"{package}.{module}")
    servant = getattr(found, f"{name}Servant")
    return Side(
        servant.mf_service, getattr(found, f"{name}Client"), getattr(found, f"{name}AsyncClient"), servant
    )


def cases(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / name / "cases.json").read_text("utf-8"))
    return found
