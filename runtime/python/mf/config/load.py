"""R6. `mf.config.load`: the options of a server and a client from a file and the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mf.config.keys import KEYS
from mf.config.log import set_up_log
from mf.config.toml import read
from mf.config.values import Mistakes, Value, gather, quoted
from mf.core.client_options import ClientOptions
from mf.core.error import Error
from mf.core.metadata import TOKEN_KEY, check_key
from mf.core.server_options import (
    DEFAULT_MAX_STREAMS,
    DEFAULT_STREAM_WINDOW,
    MAX_WINDOWS,
    Limit,
    ServerOptions,
)
from mf.core.tls import Tls

PREFIX = "MF_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What a file and the environment say. What they do not say is as without them.

    `listen`, `controller` and `server` are the arguments of `Server` and `AsyncServer`, `url` and `client`
    those of `Client` and `AsyncClient`; `url` is empty if it is not set. `sources`: where each key was set,
    as FILE:LINE or the name of a variable of the environment.
    """

    listen: str
    controller: str | None
    server: ServerOptions
    url: str
    client: ClientOptions
    log_level: str
    log_format: str
    sources: Mapping[str, str]

    def set_up_log(self) -> None:
        """Writes the lines of the logger "mf" to standard error, at `log_level` and as `log_format` says."""
        set_up_log(self.log_level, self.log_format)


def load(path: str | Path | None = None, *, environment: Mapping[str, str] | None = None) -> Config:
    """Reads the TOML file at `path` (None: at MF_CONFIG, if that is set), and the variables MF_SERVER_…,
    MF_CLIENT_… and MF_LOG_…, which override it (docs/configuration.md). Raises ValueError, which names every
    mistake with its file and line, or with its variable. `environment`: in place of that of this process.
    """
    variables = os.environ if environment is None else environment
    name = str(path) if path is not None else variables.get(PREFIX + "CONFIG", "")
    mistakes = Mistakes()
    values = gather(KEYS, read(name) if name else [], PREFIX, variables, mistakes)
    _check_together(values, mistakes)
    mistakes.raise_any()
    return _config(_Section(values), values)


def _check_together(values: dict[str, Value], mistakes: Mistakes) -> None:
    """Adds what fits in each place, but not together."""
    for key, other in (
        ("server.limits.queued", "server.limits.concurrent"),
        ("server.token.keys", "server.token.audience"),
        ("server.token.audience", "server.token.keys"),
        ("server.tls.certificate", "server.tls.key"),
        ("server.tls.key", "server.tls.certificate"),
        ("server.controller_tls.certificate", "server.controller_tls.key"),
        ("server.controller_tls.key", "server.controller_tls.certificate"),
        ("client.tls.certificate", "client.tls.key"),
        ("client.tls.key", "client.tls.certificate"),
    ):
        if key in values and other not in values:
            mistakes.add(values[key].place, f"{key} requires {other}")
    if (forwarded := values.get("client.forward_metadata")) and isinstance(forwarded.value, list):
        for key in forwarded.value:
            if reason := _why_not_forwarded(key):
                mistakes.add(forwarded.place, f"client.forward_metadata has {quoted(key)}, which is {reason}")
    streams, window = values.get("server.limits.max_streams"), values.get("server.limits.stream_window")
    count = DEFAULT_MAX_STREAMS if streams is None else streams.value
    size = DEFAULT_STREAM_WINDOW if window is None else window.value
    given = streams or window
    if given is not None and isinstance(count, int) and isinstance(size, int) and count * size > MAX_WINDOWS:
        text = f"server.limits.max_streams times stream_window is {count * size} bytes"
        mistakes.add(given.place, f"{text}: together they may take {MAX_WINDOWS}")


def _why_not_forwarded(key: str) -> str:
    if key == TOKEN_KEY:
        return "a token and never passed on"
    try:
        check_key(key)
    except Error:
        return "no key of metadata"
    return ""


class _Section:
    """The values of one section, by their names in it."""

    def __init__(self, values: Mapping[str, Value], name: str = "") -> None:
        self._values = values
        self._name = name

    def section(self, name: str) -> "_Section":
        return _Section(self._values, f"{self._name}{name}.")

    def get(self, name: str, default: Any) -> Any:
        found = self._values.get(self._name + name)
        return default if found is None else found.value

    def given(self, *names: str) -> dict[str, Any]:
        """Those that are set."""
        keys = {name: self._values.get(self._name + name) for name in names}
        return {name: found.value for name, found in keys.items() if found is not None}


def _config(all_: _Section, values: Mapping[str, Value]) -> Config:
    server, client, log = all_.section("server"), all_.section("client"), all_.section("log")
    return Config(
        listen=server.get("listen", "tcp://127.0.0.1:0"),
        controller=server.get("controller", None),
        server=_server_options(server),
        url=client.get("url", ""),
        client=_client_options(client),
        log_level=log.get("level", "info"),
        log_format=log.get("format", "text"),
        sources={key: value.place for key, value in values.items()},
    )


def _server_options(server: _Section) -> ServerOptions:
    limits, token = server.section("limits"), server.section("token")
    tls = server.section("tls").given("certificate", "key")
    of_clients = server.section("tls").given("client_ca", "client_crl")
    tls |= {name.removeprefix("client_"): path for name, path in of_clients.items()}
    controller_tls = _given_tls(server.section("controller_tls"))
    concurrent = limits.get("concurrent", None)
    return ServerOptions(
        **server.given(
            "advertise",
            "open",
            "error_texts",
            "workers",
            "drain_timeout",
            "reload_interval",
            "access",
            "monitor",
        ),
        **limits.given(
            "max_payload",
            "max_in_flight",
            "max_bindings",
            "max_streams",
            "stream_window",
            "max_connections",
            "max_connections_per_host",
            "max_handshakes",
            "max_held_bytes",
        ),
        token_keys=token.get("keys", ""),
        token_audience=token.get("audience", ""),
        limit=None if concurrent is None else Limit(concurrent, limits.get("queued", None)),
        tls=Tls(**tls) if tls else None,
        controller_tls=controller_tls,
    )


def _client_options(client: _Section) -> ClientOptions:
    return ClientOptions(
        **client.given("wait_for_server", "dead_after", "reload_interval", "forward_metadata"),
        **client.section("limits").given("max_payload"),
        tls=_given_tls(client.section("tls")),
        credential=client.get("token_file", None),
    )


def _given_tls(section: _Section) -> Tls | None:
    given = section.given("ca", "crl", "certificate", "key", "server_name")
    return Tls(**given) if given else None
