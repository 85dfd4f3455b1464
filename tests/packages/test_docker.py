"""packaging/docker/Dockerfile, by its linter."""

from .conftest import ROOT, run


def test_the_linter_finds_nothing_in_the_dockerfile() -> None:
    assert run("hadolint", str(ROOT / "packaging/docker/Dockerfile")) == ""
