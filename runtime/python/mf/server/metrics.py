"""R5. The metrics of a server, and whether it is ready: what its monitor serves."""

from collections.abc import Callable

from mf.core.exposition import Exposition, Kind
from mf.core.generated import VERSION
from mf.core.log import log_escaped_exception
from mf.core.server_options import ServerOptions
from mf.core.source import SourceFigures
from mf.core.tally import CallFamilies, Tallies, expose_calls
from mf.server.counters import ServerStats
from mf.server.load import ConnectionStats

_CALLS = CallFamilies(
    calls="mf_server_calls",
    calls_help="Calls that have ended, items of batches one by one.",
    duration="mf_server_call_duration_seconds",
    duration_help="From the arrival of a request, or a batch, to its answer.",
)


def expose(
    out: Exposition,
    stats: ServerStats,
    tallies: Tallies,
    *,
    most_bytes: int,
    is_ready: bool,
    expires: float | None,
) -> None:
    """`expires`: when its certificate expires, in seconds since 1970; None: it has none."""
    out.family("mf_build_info", Kind.GAUGE, "The version of the runtime.")
    out.sample({"version": VERSION, "language": "python"}, 1)
    out.gauge("mf_server_ready", "Whether it may be given work: 1 or 0.", int(is_ready))
    expose_calls(out, tallies, _CALLS)
    out.gauge("mf_server_running", "Messages of methods with a limit that run.", stats.running)
    out.gauge("mf_server_waiting", "Messages of methods with a limit that wait.", stats.waiting)
    out.counter("mf_server_oneway_dropped", "One-way calls that a limit refused.", stats.dropped)
    _expose_connections(out, stats.connections, most_bytes)
    if expires is not None:
        text = "When the certificate that is shown at tls:// expires, in seconds since 1970."
        out.gauge("mf_server_certificate_expires_timestamp_seconds", text, expires)


def _expose_connections(out: Exposition, of: ConnectionStats, most_bytes: int) -> None:
    out.gauge("mf_server_connections", "Open connections.", of.open)
    out.gauge("mf_server_handshakes", "Open connections without a HELLO.", of.handshakes)
    out.gauge("mf_server_open_calls", "Calls that wait or run.", of.calls)
    out.gauge("mf_server_held_bytes", "What all connections hold together.", of.held_bytes)
    out.gauge("mf_server_max_held_bytes", "The most that they may hold together.", most_bytes)
    out.counter("mf_server_connections_accepted", "Accepted connections.", of.accepted)
    out.counter("mf_server_connections_refused", "Connections above a limit.", of.refused)
    text = "Connections for which there was no file descriptor."
    out.counter("mf_server_connections_turned_away", text, of.turned_away)
    out.family("mf_server_connections_cut", Kind.COUNTER, "Connections that were ended, by the limit.")
    for limit in ("handshake", "progress", "memory", "protocol", "idle"):
        name = "cut_handshakes" if limit == "handshake" else f"cut_{limit}"
        out.sample({"limit": limit}, getattr(of, name))


def expose_topics(out: Exposition, topics: list[SourceFigures]) -> None:
    """The topics that this process publishes; agents have no label, as those of calls have none."""
    out.family("mf_topic_subscribers", Kind.GAUGE, "Subscriptions, of which a relay has one.")
    for each in topics:
        out.sample({"topic": each.service}, each.subscribers)
    out.family("mf_topic_published", Kind.COUNTER, "Published messages.")
    for each in topics:
        out.sample({"topic": each.service}, each.published)
    text = "Messages that a subscriber has missed, counted for each."
    out.family("mf_topic_dropped", Kind.COUNTER, text)
    for each in topics:
        out.sample({"topic": each.service}, each.dropped)
    out.family("mf_topic_subscriptions_cut", Kind.COUNTER, "Subscriptions that the publisher has ended.")
    for each in topics:
        out.sample({"topic": each.service}, each.cut)


def reasons(
    options: ServerOptions, *, stopping: bool, registered: Callable[[], bool], is_full: bool
) -> list[str]:
    """Why no work may be given, a line for each; empty: the server is ready, as far as it knows itself."""
    why = []
    if stopping:
        why.append("the server is stopping")
    elif not registered():
        why.append("the server is not registered at its controller")
    if is_full:
        why.append("its connections hold more than max_held_bytes")
    if options.not_ready is not None:
        try:
            if own := options.not_ready():
                why.append(own)
        except Exception as raised:
            log_escaped_exception("ServerOptions.not_ready", raised)
            why.append("ServerOptions.not_ready raised")
    return why
