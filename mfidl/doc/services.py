"""Sections of services and their methods."""

from markupsafe import Markup, escape

from mfidl import model
from mfidl.doc.drawing import draw
from mfidl.doc.sections import NOTHING, Sections, bytes_of, tier_badge
from mfidl.doc.views import Badge, Facts, Part, Section
from mfidl.explain import report
from mfidl.plan.spelling import duration_text


def service_section(sections: Sections, service: model.Service) -> Section:
    told = sections.explainer.service(service)
    facts = (
        *sections.per(service.agent),
        *_extends(sections, service),
        *sections.annotated(service.annotations),
        ("Fingerprint", Markup("<code>{}</code>").format(told.fingerprint)),
    )
    methods = tuple(
        _method(sections, service, method, each)
        for method, each in zip(service.methods, told.methods, strict=True)
    )
    doc = sections.doc(service.doc, service.name)
    badge = Badge(f"{len(methods)} method{'' if len(methods) == 1 else 's'}", "plain")
    gone = sections.deprecation(service.deprecated)
    return Section(
        service.name, "service", service.name, NOTHING, (badge,), gone, doc, (Facts(facts),), methods
    )


def _extends(sections: Sections, service: model.Service) -> tuple[tuple[str, Markup], ...]:
    if service.extends is None:
        return ()
    name = sections.links.name(service.extends, service.extends, sections.page)
    return (("Extends", Markup("<code>{}</code>").format(name)),)


def _method(
    sections: Sections, service: model.Service, method: model.Method, told: report.MethodReport
) -> Section:
    parts: list[Part] = []
    if method.params.fields:
        parts.append(sections.fields("Parameter", method.params.fields, "", ids=False))
    if method.results.fields and not method.single_result:
        parts.append(sections.fields("Result", method.results.fields, "", ids=False))
    parts.append(Facts(tuple(_facts(sections, method, told))))
    for title, message in (("Request", told.request), ("Reply", told.reply)):
        if message is not None and message.body.layout is not None and len(message.body.fields) > 1:
            drawing = draw(f"{title} layout", message.body.layout)
            parts += [drawing] if drawing is not None else []
    return Section(
        f"{service.name}.{method.name}",
        "",
        method.name,
        _signature(sections, method),
        tuple(_badges(method)),
        sections.deprecation(method.deprecated),
        sections.doc(method.doc, service.name),
        tuple(parts),
    )


def _signature(sections: Sections, method: model.Method) -> Markup:
    params = [
        Markup('<span class="parameter">{}: {}</span>').format(each.name, sections.type(each.spelled))
        for each in method.params.fields
    ]
    if method.param_stream is not None:
        stream = method.param_stream
        params.append(Markup("{}: stream&lt;{}&gt;").format(stream.name, sections.type(stream.spelled)))
    text = Markup("({})").format(Markup(", ").join(params))
    results = method.results.fields
    if method.result_stream is not None:
        text += Markup(" → stream&lt;{}&gt;").format(sections.type(method.result_stream.spelled))
    elif method.single_result:
        text += Markup(" → {}").format(sections.type(results[0].spelled))
    elif results:
        named = Markup(", ").join(Markup("{}: {}").format(r.name, sections.type(r.spelled)) for r in results)
        text += Markup(" → ({})").format(named)
    return text


def _badges(method: model.Method) -> list[Badge]:
    found = []
    if method.oneway:
        found.append(Badge("one-way", "plain", "No reply is awaited."))
    if method.idempotent:
        found.append(Badge("idempotent", "plain", "Running it twice does no harm, so it may be retried."))
    if method.deadline_ns is not None:
        text = duration_text(method.deadline_ns)
        found.append(Badge(text, "plain", f"Deadline {text}, unless the caller gives another."))
    if method.batch_max is not None:
        found.append(
            Badge(f"batch {method.batch_max}", "plain", f"At most {method.batch_max} calls a message.")
        )
    if method.ordered:
        found.append(Badge("ordered", "plain", "The calls of one batch run one after the other."))
    if method.cached is not None:
        kept = f"{method.cached.entries} results{' and errors' * method.cached.errors}"
        ttl = "" if method.cached.ttl_ns is None else f", each for {duration_text(method.cached.ttl_ns)}"
        found.append(Badge("cached", "plain", f"The client keeps {kept}{ttl}."))
    if method.replicated is not None:
        found.append(Badge("replicated", "plain", f"Sent to several servers: {method.replicated}."))
    if method.param_stream is not None or method.result_stream is not None:
        found.append(Badge("stream", "plain", "Values follow one by one."))
    return found


def _facts(sections: Sections, method: model.Method, told: report.MethodReport) -> list[tuple[str, Markup]]:
    found: list[tuple[str, Markup]] = []
    if method.throws:
        errors = [sections.links.type(each, sections.page) for each in method.throws]
        found.append(("Throws", Markup("<code>{}</code>").format(Markup(", ").join(errors))))
    found.append(("Request", _message(told.request)))
    if told.reply is not None:
        found.append(("Reply", _message(told.reply)))
    if method.single_result and (checks := sections.checks(method.results.fields[0])):
        found.append(("Result", checks))
    found += sections.annotated(method.annotations)
    if method.was:
        found.append(("Earlier", Markup("<code>{}</code>").format(", ".join(method.was))))
    return found


def _message(message: report.Message) -> Markup:
    if message.stream is not None and not message.body.fields:
        return Markup("a stream, each element {}").format(message.stream.tier)
    if not message.body.fields:
        return escape("empty: a frame of 16 bytes")
    badge = tier_badge(message.body)
    shown = Markup('<span class="badge {}" title="{}">{}</span>').format(badge.style, badge.tip, badge.text)
    cost = message.body.cost
    if cost is None or message.frame is None:
        return shown
    size = f"{bytes_of(cost)}; frame of the example: {message.frame.example}"
    return Markup("{} {}").format(shown, size)
