"""R6. The keys of the file of a program that is a server, a client, or both, and what they mean.

docs/config.schema.json is made of this table by tools/config_schema.py, and C++ has the same one
(src/config/keys.hpp): tests hold both to the schema.
"""

from typing import Final

from mf.config.values import Key, Kind

_SECONDS_OF_A_DAY: Final = 86_400
_MOST_U32: Final = 2**32 - 1
_MOST_BYTES: Final = 2**48

LEVELS: Final = ("debug", "info", "warning", "error", "off")
FORMATS: Final = ("text", "json")


def _text(name: str, meaning: str, *choices: str) -> Key:
    return Key(name, Kind.TEXT, meaning, choices=choices)


def _flag(name: str, meaning: str) -> Key:
    return Key(name, Kind.BOOLEAN, meaning)


def _integer(name: str, least: int, most: int, meaning: str) -> Key:
    return Key(name, Kind.INTEGER, meaning, least, most)


def _seconds(name: str, least: int, meaning: str) -> Key:
    return Key(name, Kind.NUMBER, meaning + ", in seconds", least, _SECONDS_OF_A_DAY)


KEYS: Final = (
    _text(
        "server.listen", "Where the server listens: tcp://host:port, tls://host:port, unix:/path, or several"
    ),
    _text("server.controller", "The controllers at which it registers: mf://host:port or mf+tls://host:port"),
    _text("server.advertise", "The address that clients get, if it differs from the one to listen at"),
    _flag("server.open", "Listen beyond this host without knowing the peers: every program there may use it"),
    _flag("server.error_texts", "Send callers the text of what a handler raises, not only a reference to it"),
    _integer("server.workers", 1, 1024, "Threads for handlers"),
    _seconds("server.drain_timeout", 0, "How long running calls have when the server stops"),
    _seconds(
        "server.reload_interval", 1, "How often files are looked at, and read again if they were replaced"
    ),
    _text("server.access", "An access file: what each identity may call and subscribe to"),
    _text("server.monitor", "HOST:PORT where metrics and health are served over HTTP"),
    _text("server.tls.certificate", "The certificate that is shown at tls://, a PEM file"),
    _text("server.tls.key", "The private key of that certificate"),
    _text("server.tls.client_ca", "The authorities of clients, which then must show a certificate"),
    _text("server.tls.client_crl", "The lists of certificates that these authorities have revoked"),
    _text("server.controller_tls.ca", "The authorities by which controllers at mf+tls:// are verified"),
    _text("server.controller_tls.crl", "The lists of certificates that these authorities have revoked"),
    _text("server.controller_tls.certificate", "The certificate that is shown to controllers"),
    _text("server.controller_tls.key", "The private key of that certificate"),
    _text("server.controller_tls.server_name", "The name that the controller's certificate must be for"),
    _text("server.token.keys", "The public keys by which tokens of clients are verified, a PEM file"),
    _text("server.token.audience", "What these tokens must be for: a service"),
    _integer("server.limits.concurrent", 1, _MOST_U32, "Calls of all clients that run at once"),
    _integer("server.limits.queued", 0, _MOST_U32, "Calls that wait beyond these; needs `concurrent`"),
    _integer("server.limits.max_payload", 1024, _MOST_U32, "Bytes of the largest request"),
    _integer("server.limits.max_in_flight", 1, _MOST_U32, "Unanswered requests of one connection"),
    _integer("server.limits.max_bindings", 1, _MOST_U32, "Services and agents that one connection has bound"),
    _integer("server.limits.max_streams", 0, 8_192, "Open calls with streams of one connection"),
    _integer("server.limits.stream_window", 1024, 2**31 - 1, "Bytes that a stream may send ahead"),
    _integer("server.limits.max_connections", 1, 1_048_576, "Open connections"),
    _integer("server.limits.max_connections_per_host", 0, 1_048_576, "Those of one host; 0: no limit"),
    _integer("server.limits.max_handshakes", 1, 1_048_576, "Connections without a HELLO"),
    _integer(
        "server.limits.max_held_bytes", 1_048_576, _MOST_BYTES, "Bytes that all connections hold together"
    ),
    _text("client.url", "What the client opens: mf://, relay://, tcp://, tls:// or unix:, or several"),
    _seconds("client.wait_for_server", 0, "How long a call waits for a server that was never reached"),
    _seconds("client.dead_after", 0, "Silence that ends a connection with pending calls; 0: never"),
    _seconds(
        "client.reload_interval", 1, "How often files are looked at, and read again if they were replaced"
    ),
    _text("client.token_file", "A file with the token that is shown to servers that were verified"),
    Key("client.forward_metadata", Kind.LIST, "Keys of metadata that calls of a handler pass on"),
    _integer("client.limits.max_payload", 1024, _MOST_U32, "Bytes of the largest reply"),
    _text("client.tls.ca", "The authorities by which servers and controllers at TLS are verified"),
    _text("client.tls.crl", "The lists of certificates that these authorities have revoked"),
    _text("client.tls.certificate", "The certificate that is shown to servers"),
    _text("client.tls.key", "The private key of that certificate"),
    _text("client.tls.server_name", "The name that the server's certificate must be for"),
    _text("log.level", "The least important lines that are written", *LEVELS),
    _text("log.format", "How lines are written", *FORMATS),
)
