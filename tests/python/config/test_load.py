"""`mf.config.load`, held to tests/config/cases.json, as C++ is (tests/cpp/config)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import mf
import mf.config
from mf.config.toml import parse

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "config/cases.json").read_text())


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(case: dict[str, Any]) -> mf.config.Config:
    Path("F").write_text(case["file"])
    return mf.config.load("F", environment=case.get("environment", {}))


def mistakes_of(case: dict[str, Any]) -> list[str]:
    with pytest.raises(ValueError, match=r"^[FM]") as refused:
        loaded(case)
    return str(refused.value).split("\n")


def values_of(config: mf.config.Config) -> dict[str, Any]:
    return {
        "listen": config.listen,
        "url": config.url,
        "workers": config.server.workers,
        "drain_timeout_ms": round(config.server.drain_timeout * 1000),
        "max_connections": config.server.max_connections,
        "certificate": config.server.tls.certificate if config.server.tls else "",
        "dead_after_ms": round(config.client.dead_after * 1000),
        "forward_metadata": list(config.client.forward_metadata),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_case(case: dict[str, Any]) -> None:
    if "values" not in case:
        lines = mistakes_of(case)
        if "mistakes" in case:
            assert lines == case["mistakes"]
        else:
            assert len(lines) == 1
            assert lines[0].startswith(f"F:{case['no_toml_at']}: this is no TOML: ")
        return
    config = loaded(case)
    assert values_of(config).items() >= case["values"].items()
    assert config.sources.items() >= case.get("sources", {}).items()


def test_the_file_may_be_named_in_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "named.toml"
    file.write_text("server.workers = 2\n")

    assert mf.config.load(environment={"MF_CONFIG": str(file)}).server.workers == 2
    assert mf.config.load(environment={}).server == mf.ServerOptions()


def test_the_environment_of_the_process_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MF_SERVER_WORKERS", "3")

    assert mf.config.load().server.workers == 3


def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match=r"^none: cannot be read: No such file or directory$"):
        mf.config.load("none")
    with pytest.raises(ValueError, match=r"^[.]: cannot be read: it is no file$"):
        mf.config.load(".")
    os.mkfifo("fifo")
    with pytest.raises(ValueError, match=r"^fifo: cannot be read: it is no file$"):
        mf.config.load("fifo")
    Path("large").write_text("#" * (1 << 20) + "#")
    with pytest.raises(ValueError, match=r"^large: cannot be read: it is larger than 1 MiB$"):
        mf.config.load("large")
    Path("binary").write_bytes(b"\n\xff = 1\n")
    with pytest.raises(ValueError, match=r"^binary:2: this is no TOML: "):
        mf.config.load("binary")


def test_twenty_mistakes_are_enough() -> None:
    file = "".join(f"k{number} = 1\n" for number in range(100))

    assert len(mistakes_of({"file": file})) == 20


def test_options_become_servers_and_clients() -> None:
    Path("F").write_text(
        '[server]\nlisten = "tcp://127.0.0.1:0"\n[server.limits]\nconcurrent = 3\nqueued = 0\n'
        '[server.token]\nkeys = "k"\naudience = "a"\n[client]\ntoken_file = "t"\n[client.tls]\nca = "c"\n'
    )
    config = mf.config.load("F", environment={})

    assert config.server.limit == mf.Limit(3, 0)
    assert (config.server.token_keys, config.server.token_audience) == ("k", "a")
    assert (config.client.credential, config.client.tls) == ("t", mf.Tls(ca="c"))
    assert config.controller is None
    server = mf.Server("tcp://127.0.0.1:0", options=mf.ServerOptions(workers=config.server.workers))
    server.start()
    server.stop()


def test_each_key_has_its_line_however_it_is_written() -> None:
    text = (
        'a = 1\n[ "b" . c ] # [x]\n"d\\u0065" = """\n[no]\nk = 1 ""\\"""""\n'
        "e.f = [\n 1, # ]\n [2, '''\n]'''],\n]\ng = { h = \"}\", i = [ ']' ] }\n[[j]]\nk = 1\n[[j]]\nk = 2\n"
    )

    assert {value.key: value.place for value in parse(text, "F")} == {
        "a": "F:1",
        "b": "F:2",
        "b.c": "F:2",
        "b.c.de": "F:3",
        "b.c.e": "F:6",
        "b.c.e.f": "F:6",
        "b.c.g": "F:11",
        "b.c.g.h": "F:11",
        "b.c.g.i": "F:11",
        "j": "F:12",
    }
