"""Reports as plain text, 80 columns wide where names allow it: to be pasted into a design review."""

import textwrap
from collections.abc import Iterator, Sequence

from mfidl.explain import report
from mfidl.explain.memory_map import draw
from mfidl.explain.service_text import service_lines, topic_lines
from mfidl.explain.tables import WIDTH, cost_cells, entry, headline, table

_MESSAGE = 1 << 24  # of a payload (docs/protocol.md, 1)


def render_text(modules: Sequence[report.ModuleReport]) -> str:
    lines: list[str] = []
    for module in modules:
        lines += [headline(f"module {module.name}", module.path), "=" * WIDTH, ""]
        for each in module.types:
            lines += [*type_lines(each), ""]
        for service in module.services:
            lines += [*service_lines(service), ""]
            for message in _detailed(service):
                lines += [*type_lines(message.body), ""]
        for topic in module.topics:
            lines += [*topic_lines(topic), ""]
    return "".join(line.rstrip() + "\n" for line in lines)


def _detailed(service: report.ServiceReport) -> Iterator[report.Message]:
    for method in service.methods if service.detailed else ():
        yield from (each for each in (method.request, method.reply) if each is not None and each.body.fields)


def type_lines(subject: report.TypeLike) -> Iterator[str]:
    match subject:
        case report.TypeReport():
            yield from _type(subject)
        case report.NumberReport():
            yield from _number(subject)
        case report.AliasReport():
            yield f"type {subject.name} = {' '.join((subject.type, *subject.constraints))}"
            yield from entry("an alias", "its uses are as cheap as what it stands for")


def _type(subject: report.TypeReport) -> Iterator[str]:
    yield headline(_title(subject), _summary(subject))
    yield "-" * WIDTH
    yield from entry("tier", f"{subject.tier}, {_choice(subject)}")
    if subject.kind != "error":
        yield from entry("why", subject.why)
    if len(subject.path) > 1:
        yield from entry("path", " -> ".join(subject.path))
    if subject.bindings:
        yield from entry("stands for" if subject.tier == "memcpy" else "codecs", ", ".join(subject.bindings))
    if subject.annotations:
        yield from entry("annotated", " ".join(subject.annotations))
    if subject.used_by:
        yield from entry("used by", ", ".join(subject.used_by))
    if subject.layout is not None:
        yield from _layout(subject.layout)
    elif subject.fields:
        yield from _fields(subject)
    checks = [check for row in subject.fields for check in row.checks]
    if checks:
        yield ""
        yield from entry("checked", "before a send and after a decode, on both sides:")
        for check in checks:
            yield from entry("", f"{check.place} {check.constraint}")
    if subject.example is not None:
        yield ""
        yield from entry("example", subject.example)
    yield ""
    yield from _tiers(subject)


def _title(subject: report.TypeReport) -> str:
    words = {"params": "parameters of", "results": "results of"}
    if subject.kind in words:
        return f"{words[subject.kind]} {subject.full_name.split('.')[-2]}"
    return f"{subject.kind} {subject.name}"


def _summary(subject: report.TypeReport) -> str:
    if subject.layout is not None:
        return f"memcpy, {_bytes(subject.layout.size)}"
    return subject.tier


def _choice(subject: report.TypeReport) -> str:
    if subject.kind == "error":
        return "as every error"
    if subject.asked:
        return "because the file asks for it"
    return "the fastest that it qualifies for"


def _layout(layout: report.Layout) -> Iterator[str]:
    padding = f"{_bytes(layout.padding)} of it padding" if layout.padding else "no padding"
    yield from entry("layout", f"{_bytes(layout.size)}, alignment {layout.align}, {padding}")
    if not layout.slots:
        return
    yield ""
    rows = [
        (
            str(slot.offset),
            str(slot.size),
            str(slot.align) if slot.name else "",
            slot.name or "(padding)",
            slot.type,
        )
        for slot in layout.slots
    ]
    yield from table(("offset", "size", "align", "field", "type"), rows, right=3)
    drawn = draw(layout)
    if drawn:
        yield ""
        yield from drawn
    yield ""
    if layout.better_order is not None:
        better = layout.better_order
        saved = f"saves {_bytes(better.saved)} of {layout.size}"
        yield from entry("cheaper", f"{', '.join(better.fields)}: {saved}")
    else:
        yield from entry("order", "no order of the fields is smaller")


def _fields(subject: report.TypeReport) -> Iterator[str]:
    yield ""
    numbered = any(row.number is not None for row in subject.fields)
    measured = subject.tier == "febird"
    rows: list[tuple[str, ...]] = []
    for row in subject.fields:
        default = f" = {row.default}" if row.default is not None else ""
        name = f"{row.number}: {row.name}" if numbered else row.name
        cells = cost_cells(row.cost, subject.kind != "union") if measured else ()
        rows.append((*cells, name, row.type + default))
    if subject.cost is not None:
        rows.append((*cost_cells(subject.cost), "", "in all"))
    what = "alternative" if subject.kind == "union" else "field"
    head = ("min", "example", "max") if measured else ()
    yield from table((*head, what, "type"), rows, right=len(head))
    if subject.cost is not None and subject.cost.example > _MESSAGE:
        yield ""
        yield from entry("bytes", f"more than a message may have, which is {_MESSAGE} unless configured")
    if subject.problem is not None and measured:
        yield ""
        yield from entry("bytes", f"cannot be told: {subject.problem}")


def _tiers(subject: report.TypeReport) -> Iterator[str]:
    rows = []
    for row in subject.tiers:
        mark = "* " if row.chosen else "  "
        rows.append((mark + row.tier, *cost_cells(row.cost), _remark(row)))
    head = f"  {'tier':10}{'min':>8}{'example':>9}{'max':>9}"
    yield head
    for name, low, example, high, remark in rows:
        line = f"  {name:10}{low:>8}{example:>9}{high:>9}"
        wrapped = textwrap.wrap(remark, WIDTH - len(line) - 2) or [""]
        yield f"{line}  {wrapped[0]}"
        for more in wrapped[1:]:
            yield " " * (len(line) + 2) + more


def _remark(row: report.TierRow) -> str:
    parts = []
    if row.reason is not None:
        parts.append(row.reason)
    if row.about is not None:
        estimate = f"{row.about} for the example"
        parts.append(estimate if row.possible else f"with numbers {estimate}")
    return "; ".join(parts)


def _number(subject: report.NumberReport) -> Iterator[str]:
    kind = subject.kind if subject.kind == "flags" else f"{'open' if subject.open else 'closed'} enum"
    yield headline(f"{subject.kind} {subject.name}: {subject.base}", kind)
    yield "-" * WIDTH
    if subject.annotations:
        yield from entry("annotated", " ".join(subject.annotations))
    low, high = subject.febird.fewest, subject.febird.most
    span = _bytes(low) if low == high else f"{low} to {_bytes(high or 0)}"
    yield from entry("bytes", f"memcpy {subject.memcpy}, febird {span}")
    if subject.kind == "flags":
        yield from entry("unknown", "bits without a name survive a round trip")
    elif subject.open:
        yield from entry("unknown", "numbers without a name survive a round trip")
    else:
        yield from entry("unknown", "any other number is a decode error")
    word = "bit " if subject.kind == "flags" else ""
    yield from entry(
        "members", ", ".join(f"{each.name} {word}{each.number}" for each in subject.members) or "none"
    )


def _bytes(number: int) -> str:
    return "1 byte" if number == 1 else f"{number} bytes"
