"""Reports of services and topics as plain text."""

from collections.abc import Iterator

from mfidl.explain import report
from mfidl.explain.tables import WIDTH, cost_cells, entry, headline, table
from mfidl.plan.spelling import duration_text

_MOST_PLACES = 12
_LEGEND = (
    "min, example, max: the payload of one call in bytes; frame: the example with its header of 16 bytes,"
    " up to a multiple of 8"
)


def service_lines(service: report.ServiceReport) -> Iterator[str]:
    per = f"per {service.agent}" if service.agent else "one for all"
    yield headline(f"service {service.name}", per)
    yield "-" * WIDTH
    yield from entry("identity", f"fingerprint {service.fingerprint}")
    if service.extends is not None:
        yield from entry(
            "extends", f"{service.extends}: its methods come first, and servers are found by its name, too"
        )
    if service.annotations:
        yield from entry("annotated", " ".join(service.annotations))
    yield ""
    rows = [row for method in service.methods for row in _overview(method)]
    yield from table(("#", "min", "example", "max", "frame", "tier", "method"), rows, right=5)
    yield ""
    yield from entry("", _LEGEND)
    for method in service.methods:
        yield ""
        yield from _method(method)


def _overview(method: report.MethodReport) -> Iterator[tuple[str, ...]]:
    index = str(method.index)
    for row in (
        *_rows(method.request, f"{method.name} request"),
        *_rows(method.reply, f"{method.name} reply"),
    ):
        yield (index, *row)
        index = ""


def _rows(message: report.Message | None, name: str) -> Iterator[tuple[str, ...]]:
    if message is None:
        return
    stream = message.stream
    if stream is None or message.body.fields:
        frame = "-" if message.frame is None else str(message.frame.example)
        yield (*cost_cells(message.body.cost), frame, message.encoding, name)
    if stream is not None:
        yield (*cost_cells(stream.cost), "", stream.tier, f"{name}, each element")


def _method(method: report.MethodReport) -> Iterator[str]:
    yield from _wrapped(f"{method.index}  {method.signature}")
    yield from entry("  call", ", ".join(_properties(method)))
    if method.annotations:
        yield from entry("", " ".join(method.annotations))
    yield from _message("  request", method.request)
    if method.reply is not None:
        yield from _message("  reply", method.reply)
    if method.batch_frame is not None and method.request.body.fields:
        yield from entry("  batch", _batch(method))
    for label, message, who in (
        ("  checked", method.request, "before the client sends, and before the servant is called"),
        ("  checked", method.reply, "before the server replies, and before the client returns"),
    ):
        if message is not None and message.checks:
            yield from entry(label, f"{who}:")
            for check in message.checks:
                yield from entry("", f"{check.place} {check.constraint}")


def _wrapped(text: str) -> Iterator[str]:
    lines = list(entry("", text))
    yield "  " + lines[0].strip()
    yield from ("     " + line.strip() for line in lines[1:])


def _properties(method: report.MethodReport) -> Iterator[str]:
    if method.oneway:
        yield "one-way: no reply is awaited"
    else:
        yield (
            f"deadline {duration_text(method.deadline_ns)}"
            if method.deadline_ns
            else "deadline 30s unless given"
        )
        yield "idempotent: may be retried" if method.idempotent else "not idempotent"
    if method.ordered:
        yield "ordered: the calls of one batch run one after the other"
    if method.cached is not None:
        yield f"cached by the client: {method.cached}"
    if method.replicated is not None:
        yield f"replicated: {method.replicated}"
    if method.throws:
        yield f"throws {', '.join(method.throws)}"


def _message(label: str, message: report.Message) -> Iterator[str]:
    body = message.body
    if message.stream is not None and not body.fields:
        yield from entry(label, _stream(message.stream))
        return
    yield from entry(label, f"{message.encoding} because {body.why}" if body.fields else "empty")
    if body.layout is not None and body.fields:
        yield from entry("", _places(body.layout))
    if len(body.path) > 1:
        yield from entry("", " -> ".join(body.path))
    if body.example is not None:
        yield from entry("", body.example)
    if body.problem is not None and body.cost is None:
        yield from entry("", f"bytes cannot be told: {body.problem}")
    if body.layout is not None and body.layout.better_order is not None:
        better = body.layout.better_order
        yield from entry("", f"cheaper order: {', '.join(better.fields)}: saves {better.saved} bytes")
    if message.stream is not None:
        yield from entry("", f"and {_stream(message.stream)}")


def _stream(stream: report.StreamReport) -> str:
    return f"a stream of {stream.type}, each {stream.tier}"


def _places(layout: report.Layout) -> str:
    slots = ", ".join(f"{slot.name or 'padding'} {slot.offset}" for slot in layout.slots[:_MOST_PLACES])
    more = ", ..." if len(layout.slots) > _MOST_PLACES else ""
    padding = f", {layout.padding} of them padding" if layout.padding else ""
    return f"{layout.size} bytes{padding}; offsets: {slots}{more}"


def _batch(method: report.MethodReport) -> str:
    assert method.batch_frame is not None
    each = method.batch_frame / method.batch_max
    sized = f"so many examples are {method.batch_frame} bytes, {each:.1f} a call"
    return f"at most {method.batch_max} calls a message; {sized}"


def replay_text(count: int, per_agent: bool) -> str:
    if not count:
        return "none: a subscriber begins with the next message"
    return f"the last {count if count > 1 else 'one'}{' of each agent' if per_agent else ''}"


def topic_lines(topic: report.TopicReport) -> Iterator[str]:
    yield headline(f"topic {topic.name}", f"per {topic.agent}" if topic.agent else "one for all")
    yield "-" * WIDTH
    yield from entry("identity", f"fingerprint {topic.fingerprint}")
    yield from entry("replay", replay_text(topic.replay, topic.agent is not None))
    yield from entry("overflow", f"{', '.join(topic.overflow)}, as the subscriber chooses")
    yield from entry("value", f"{topic.type}, {topic.tier}")
    if topic.cost is None:
        yield from entry("bytes", f"cannot be told: {topic.problem}")
    else:
        low, example, high = cost_cells(topic.cost)
        yield from entry("bytes", f"min {low}, example {example}, max {high}")
