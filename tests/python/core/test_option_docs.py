"""The docstrings of options: each option has its line under `Args:`, with its default."""

import inspect
import re
from enum import Enum
from typing import Any

import pytest

import mf

OPTIONS = (
    mf.BatchOptions,
    mf.CallOptions,
    mf.ClientOptions,
    mf.Limit,
    mf.PublishOptions,
    mf.ReplicaSettings,
    mf.ReplicatedOptions,
    mf.ServerOptions,
    mf.SubscribeOptions,
    mf.Tls,
    mf.TopicsOptions,
)


def described(kind: type) -> dict[str, str]:
    """The lines under `Args:`, by name."""
    arguments = inspect.getdoc(kind).partition("\nArgs:\n")[2].partition("\nRaises:\n")[0]  # type: ignore[union-attr]
    lines = re.split(r"^    (\w+): ", arguments, flags=re.MULTILINE)[1:]
    return {name: " ".join(text.split()) for name, text in zip(lines[::2], lines[1::2], strict=True)}


def words_of(default: Any) -> str:
    if default == mf.INFINITE:
        return "`mf.INFINITE`"
    if isinstance(default, Enum):
        return f"`mf.{type(default).__name__}.{default.name}`"
    if isinstance(default, int) and not isinstance(default, bool):
        return f"{default:,}"
    return "none" if default == () else repr(default).replace("'", '"')


@pytest.mark.parametrize("kind", OPTIONS)
def test_each_option_has_its_line_and_its_default(kind: type) -> None:
    parameters = inspect.signature(kind).parameters
    lines = described(kind)
    assert list(lines) == list(parameters)
    for name, parameter in parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            wanted = re.escape(f"Defaults to {words_of(parameter.default)}") + r"(\.$|: )"
            assert re.search(wanted, lines[name]), f"{kind.__name__}.{name}: {lines[name]}"
