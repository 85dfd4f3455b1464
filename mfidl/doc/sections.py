"""Sections of types, constants, agents and topics."""

from markupsafe import Markup, escape

from mfidl import model
from mfidl.doc import markdown
from mfidl.doc.drawing import draw
from mfidl.doc.links import Links
from mfidl.doc.views import Badge, Costs, Facts, Part, Row, Section, Table
from mfidl.explain import Explainer, report
from mfidl.explain.service_text import replay_text
from mfidl.plan.spelling import constraint_text, quoted

NOTHING = Markup("")


class Sections:
    """Of one module's page."""

    def __init__(self, links: Links, explainer: Explainer) -> None:
        self.links = links
        self.explainer = explainer
        self.page = explainer.module.name

    def doc(self, text: str, scope: str = "") -> Markup:
        return markdown.html(text, lambda word: self._address(word, scope))

    def summary(self, text: str, scope: str = "") -> Markup:
        return markdown.summary(text, lambda word: self._address(word, scope))

    def abstract(self, text: str) -> Markup:
        """A summary for the index page."""
        return markdown.summary(text, lambda word: self._address(word, "", seen_from=""))

    def _address(self, word: str, scope: str, seen_from: str | None = None) -> str | None:
        full_name = self.links.resolve(word, self.page, scope)
        page = self.page if seen_from is None else seen_from
        return None if full_name is None else self.links.href(full_name, page)

    def type(self, type_: model.Type) -> Markup:
        return self.links.type(type_, self.page)

    def deprecation(self, reason: str | None) -> Markup:
        """`reason` "" where the schema gives none; None where nothing is deprecated."""
        if reason is None:
            return NOTHING
        told = Markup(": {}").format(self.summary(reason)) if reason else Markup(".")
        return Markup('<p class="deprecated">Deprecated{}</p>').format(told)

    # Declarations

    def declaration(self, declaration: model.Declaration) -> Section:
        match declaration:
            case model.Struct() | model.Union():
                return self._subject(declaration)
            case model.Enum() | model.Flags():
                return self._number(declaration)
            case model.Alias():
                return self._alias(declaration)

    def _subject(self, subject: model.Struct | model.Union) -> Section:
        told = self.explainer.type(subject)
        assert isinstance(told, report.TypeReport)
        fields = subject.alternatives if isinstance(subject, model.Union) else subject.fields
        parts: list[Part] = []
        if fields:
            title = "Alternative" if isinstance(subject, model.Union) else "Field"
            layout = subject.layout if isinstance(subject, model.Struct) else None
            parts.append(self.fields(title, fields, model.local_name(subject), layout=layout))
        if told.layout is not None and (drawing := draw("Layout", told.layout)) is not None:
            parts.append(drawing)
        parts.append(Costs(_cost_summary(told), tuple(map(_tier_row, told.tiers)), told.example or ""))
        facts = [(label, escape(text)) for label, text in _bindings(subject, told)]
        facts += self.annotated(subject.annotations)
        if told.used_by:
            facts.append(("Used by", Markup(", ").join(map(self._user, told.used_by))))
        if facts:
            parts.append(Facts(tuple(facts)))
        return Section(
            model.local_name(subject),
            told.kind,
            model.local_name(subject),
            NOTHING,
            (tier_badge(told),),
            self.deprecation(subject.deprecated),
            self.doc(subject.doc, model.local_name(subject)),
            tuple(parts),
        )

    def _user(self, text: str) -> Markup:
        """`Index.query reply` with a link to the method."""
        words = text.split(" ")
        at = 1 if words[0] == "topic" else 0
        marked = [escape(each) for each in words]
        marked[at] = self.links.local(words[at], self.page)
        return Markup(" ").join(marked)

    def fields(
        self,
        caption: str,
        fields: tuple[model.Field, ...],
        prefix: str,
        *,
        ids: bool = True,
        layout: model.Layout | None = None,
    ) -> Table:
        """One row a field; columns in which nothing would stand are left out."""
        offsets = {slot.name: slot.offset for slot in layout.slots} if layout is not None else {}
        columns: list[tuple[tuple[str, str], list[Markup]]] = [
            (("#", "number"), [escape("" if each.number is None else each.number) for each in fields]),
            ((caption, "name"), [Markup("<code>{}</code>").format(each.name) for each in fields]),
            (("Type", "type"), [self._typed(each) for each in fields]),
            (("Offset", "number"), [escape(offsets.get(each.name, "")) for each in fields]),
            (("Default", "value"), [self._default(each) for each in fields]),
            (("Description", "text"), [self._remarks(each, prefix) for each in fields]),
        ]
        shown = [each for each in columns if any(each[1])]
        rows = tuple(
            Row(
                f"{prefix}.{field.name}" if ids else "",
                tuple(cells[at] for _, cells in shown),
                field.deprecated is not None,
            )
            for at, field in enumerate(fields)
        )
        return Table(caption, tuple(head for head, _ in shown), rows)

    def _typed(self, field: model.Field) -> Markup:
        return Markup('<code class="type">{}</code>').format(self.type(field.spelled))

    def _default(self, field: model.Field) -> Markup:
        text = self.explainer.default_text(field)
        return NOTHING if text is None else Markup("<code>{}</code>").format(text)

    def checks(self, field: model.Field) -> Markup:
        """The constraints of a field and of what is in it; nothing where it has none."""
        found = self.explainer.checks(field)
        texts = [_check(place.removeprefix(field.name), text) for place, text in found]
        return Markup(" ").join(Markup('<code class="check">{}</code>').format(each) for each in texts)

    def _remarks(self, field: model.Field, scope: str) -> Markup:
        checks = self.checks(field)
        pieces = [self.doc(field.doc, scope)] if field.doc else []
        pieces += [Markup("<p>{}</p>").format(text) for _, text in self.annotated(field.annotations)]
        if checks:
            pieces.append(Markup('<p class="checks">{}</p>').format(checks))
        if field.was:
            pieces.append(Markup("<p>Earlier called <code>{}</code>.</p>").format(", ".join(field.was)))
        return Markup("").join([*pieces, self.deprecation(field.deprecated)])

    def _number(self, declaration: model.Enum | model.Flags) -> Section:
        told = self.explainer.type(declaration)
        assert isinstance(told, report.NumberReport)
        if isinstance(declaration, model.Flags):
            columns: tuple[tuple[str, str], ...]
            columns = (("Flag", "name"), ("Bit", "number"), ("Value", "number"), ("Description", "text"))
            rows = tuple(
                self._member(model.local_name(declaration), each, (str(each.bit), f"{1 << each.bit:#x}"))
                for each in declaration.members
            )
            badge = Badge("open", "plain", "Bits without a name survive a round trip.")
        else:
            columns = (("Member", "name"), ("Number", "number"), ("Description", "text"))
            rows = tuple(
                self._member(model.local_name(declaration), each, (str(each.number),))
                for each in declaration.members
            )
            badge = _openness(declaration)
        noted = tuple(self.annotated(declaration.annotations))
        return Section(
            model.local_name(declaration),
            told.kind,
            model.local_name(declaration),
            Markup(": {}").format(told.base),
            (badge,),
            self.deprecation(declaration.deprecated),
            self.doc(declaration.doc, model.local_name(declaration)),
            (*([Table("Member", columns, rows)] if rows else ()), *([Facts(noted)] if noted else ())),
        )

    def _member(
        self, owner: str, member: model.EnumMember | model.FlagsMember, numbers: tuple[str, ...]
    ) -> Row:
        name = Markup("<code>{}</code>").format(member.name)
        text = self.doc(member.doc, owner) + self.deprecation(member.deprecated)
        cells = (name, *(escape(each) for each in numbers), text)
        return Row(f"{owner}.{member.name}", cells, member.deprecated is not None)

    def _alias(self, alias: model.Alias) -> Section:
        texts = [constraint_text(each, alias.type) for each in alias.constraints]
        head = Markup(" = {}").format(self.type(alias.spelled))
        if texts:
            head += Markup(" {}").format(" ".join(texts))
        doc = self.doc(alias.doc, model.local_name(alias))
        gone = self.deprecation(alias.deprecated)
        return Section(model.local_name(alias), "type", model.local_name(alias), head, (), gone, doc, ())

    # The rest of a module

    def constant(self, constant: model.Const) -> Section:
        value = self.explainer.value_text(constant.type, constant.value)
        head = Markup(": {} = {}").format(self.type(constant.spelled), value)
        doc = self.doc(constant.doc, constant.name)
        gone = self.deprecation(constant.deprecated)
        return Section(constant.name, "const", constant.name, head, (), gone, doc, ())

    def agent(self, agent: model.Agent) -> Section:
        head = Markup(": {}").format(self.type(agent.spelled))
        doc = self.doc(agent.doc, agent.name)
        gone = self.deprecation(agent.deprecated)
        return Section(agent.name, "agent", agent.name, head, (), gone, doc, ())

    def topic(self, topic: model.Topic) -> Section:
        told = self.explainer.topic(topic)
        head = Markup(": {}").format(self.type(topic.type))
        facts = (
            *self.per(topic.agent),
            *self.annotated(topic.annotations),
            ("Replay", Markup("{}").format(replay_text(topic.replay, topic.agent is not None))),
            ("Overflow", Markup("{}").format(", ".join(topic.overflow))),
            ("Fingerprint", Markup("<code>{}</code>").format(told.fingerprint)),
        )
        badge = Badge(told.tier, told.tier, "How its values are serialized.")
        doc = self.doc(topic.doc, topic.name)
        return Section(
            topic.name,
            "topic",
            topic.name,
            head,
            (badge,),
            self.deprecation(topic.deprecated),
            doc,
            (Facts(facts),),
        )

    def annotated(self, annotations: model.Annotations) -> list[tuple[str, Markup]]:
        """The schema's own annotations as a fact; none where there are none."""
        texts = [Markup("<code>{}</code>").format(each) for each in self.explainer.annotations(annotations)]
        return [("Annotated", Markup(" ").join(texts))] if texts else []

    def per(self, agent: model.Agent | None) -> tuple[tuple[str, Markup], ...]:
        if agent is None:
            return ()
        name = self.links.name(agent.full_name, agent.name, self.page)
        return (("Offered per", Markup("<code>{}: {}</code>").format(name, self.type(agent.spelled))),)


def _check(place: str, text: str) -> str:
    """`[]` is each element, `[key]` each key; the way in is spelled out from the outside."""
    words = place.replace("[key]", "keys ").replace("[value]", "values ").replace("[]", "each ")
    return f"{words}{text}"


def tier_badge(told: report.TypeReport) -> Badge:
    because = "the file asks for it; " if told.asked else ""
    return Badge(told.tier, told.tier, f"{told.tier}: {because}{told.why}.")


def _openness(enum: model.Enum) -> Badge:
    if enum.open:
        return Badge("open", "plain", "Numbers without a name survive a round trip.")
    return Badge("closed", "plain", "Any other number is a decode error.")


def _bindings(subject: model.Struct | model.Union, told: report.TypeReport) -> list[tuple[str, str]]:
    found = [("Codec" if told.tier == "custom" else "Type", each) for each in told.bindings]
    numbers = [str(low) if low == high else f"{low} to {high}" for low, high in subject.reserved.numbers]
    reserved = [*numbers, *(quoted(each) for each in subject.reserved.names)]
    if reserved:
        found.append(("Reserved", ", ".join(reserved)))
    return found


def _cost_summary(told: report.TypeReport) -> str:
    if told.cost is None:
        return f"Bytes in {told.tier}, and in other tiers"
    return f"{bytes_of(told.cost)} in {told.tier}; other tiers"


def bytes_of(cost: report.Cost) -> str:
    fewest = "1 byte" if cost.fewest == 1 else f"{cost.fewest} bytes"
    if cost.most is None:
        return f"{fewest} or more"
    return fewest if cost.most == cost.fewest else f"{cost.fewest} to {cost.most} bytes"


def _tier_row(row: report.TierRow) -> tuple[Badge, str, str, str, str]:
    badge = Badge(row.tier, row.tier if row.chosen else "plain", "")
    low, example, high = ("–", "–", "–")
    if row.cost is not None:
        low, example = str(row.cost.fewest), str(row.cost.example)
        high = "no end" if row.cost.most is None else str(row.cost.most)
    remarks = [row.reason.replace("`", "") if row.reason else ""]
    if row.about is not None:
        remarks.append(
            f"about {row.about} bytes for the example" + ("" if row.possible else ", with numbers")
        )
    return badge, low, example, high, "; ".join(each for each in remarks if each)
