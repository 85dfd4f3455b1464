"""Sections of types, constants, agents and topics."""

from markupsafe import Markup, escape

from mfidl import model
from mfidl.doc import markdown
from mfidl.doc.drawing import draw
from mfidl.doc.links import Links
from mfidl.doc.views import Badge, Costs, Facts, Part, Row, Section, Table
from mfidl.explain import Explainer, report
from mfidl.explain.wording import constraint_text, quoted

NOTHING = Markup("")
_FIELD_COLUMNS = (("Name", "name"), ("Type", "type"), ("Default", "value"), ("Description", "text"))


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

    def _address(self, word: str, scope: str) -> str | None:
        full_name = self.links.resolve(word, self.page, scope)
        return None if full_name is None else self.links.href(full_name, self.page)

    def type(self, type_: model.Type) -> Markup:
        return self.links.type(type_, self.page)

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
            title = "Alternatives" if isinstance(subject, model.Union) else "Fields"
            parts.append(self.fields(title, fields, subject.name))
        parts += self.measures(told)
        facts = [(label, escape(text)) for label, text in _bindings(subject, told)]
        if facts:
            parts.append(Facts(tuple(facts)))
        return Section(
            subject.name,
            told.kind,
            subject.name,
            NOTHING,
            (tier_badge(told),),
            subject.deprecated,
            self.doc(subject.doc, subject.name),
            tuple(parts),
        )

    def measures(self, told: report.TypeReport) -> list[Part]:
        """The layout of memcpy, and the costs of every tier."""
        drawing = draw(told.layout) if told.layout is not None else None
        costs = Costs(_cost_summary(told), tuple(map(_tier_row, told.tiers)), told.example or "")
        return [drawing, costs] if drawing is not None else [costs]

    def fields(
        self, caption: str, fields: tuple[model.Field, ...], prefix: str, *, ids: bool = True
    ) -> Table:
        numbered = any(each.number is not None for each in fields)
        defaults = any(each.default is not None for each in fields)
        columns = (
            _FIELD_COLUMNS if defaults else tuple(each for each in _FIELD_COLUMNS if each[0] != "Default")
        )
        rows = tuple(self._field(each, prefix if ids else "", numbered, defaults) for each in fields)
        return Table(caption, ((("#", "number"), *columns) if numbered else columns), rows)

    def _field(self, field: model.Field, prefix: str, numbered: bool, defaults: bool) -> Row:
        cells = [Markup("<code>{}</code>").format(field.name), self._typed(field)]
        if numbered:
            cells.insert(0, escape(field.number if field.number is not None else ""))
        if defaults:
            cells.append(self._default(field))
        cells.append(self._remarks(field, prefix))
        return Row(f"{prefix}.{field.name}" if prefix else "", tuple(cells), field.deprecated is not None)

    def _typed(self, field: model.Field) -> Markup:
        return Markup('<code class="type">{}</code>').format(self.type(field.spelled))

    def _default(self, field: model.Field) -> Markup:
        text = self.explainer.default_text(field)
        return NOTHING if text is None else Markup("<code>{}</code>").format(text)

    def _remarks(self, field: model.Field, scope: str) -> Markup:
        checks = [
            f"{place.removeprefix(field.name)} {text}".strip() for place, text in self.explainer.checks(field)
        ]
        pieces = [self.doc(field.doc, scope)] if field.doc else []
        if checks:
            shown = Markup(" ").join(Markup('<code class="check">{}</code>').format(each) for each in checks)
            pieces.append(Markup('<p class="checks">{}</p>').format(shown))
        if field.was:
            pieces.append(Markup("<p>Earlier called <code>{}</code>.</p>").format(", ".join(field.was)))
        return Markup("").join([*pieces, deprecation(field.deprecated)])

    def _number(self, declaration: model.Enum | model.Flags) -> Section:
        told = self.explainer.type(declaration)
        assert isinstance(told, report.NumberReport)
        if isinstance(declaration, model.Flags):
            columns: tuple[tuple[str, str], ...]
            columns = (("Name", "name"), ("Bit", "number"), ("Value", "number"), ("Description", "text"))
            rows = tuple(
                self._member(declaration.name, each, (str(each.bit), f"{1 << each.bit:#x}"))
                for each in declaration.members
            )
            badge = Badge("flags", "plain", "Bits without a name survive a round trip.")
        else:
            columns = (("Name", "name"), ("Number", "number"), ("Description", "text"))
            rows = tuple(
                self._member(declaration.name, each, (str(each.number),)) for each in declaration.members
            )
            badge = _openness(declaration)
        return Section(
            declaration.name,
            told.kind,
            declaration.name,
            Markup(": {}").format(told.base),
            (badge,),
            declaration.deprecated,
            self.doc(declaration.doc, declaration.name),
            (Table("Members", columns, rows),) if rows else (),
        )

    def _member(
        self, owner: str, member: model.EnumMember | model.FlagsMember, numbers: tuple[str, ...]
    ) -> Row:
        name = Markup("<code>{}</code>").format(member.name)
        text = self.doc(member.doc, owner) + deprecation(member.deprecated)
        cells = (name, *(escape(each) for each in numbers), text)
        return Row(f"{owner}.{member.name}", cells, member.deprecated is not None)

    def _alias(self, alias: model.Alias) -> Section:
        texts = [constraint_text(each, alias.type) for each in alias.constraints]
        head = Markup(" = {}").format(self.type(alias.spelled))
        if texts:
            head += Markup(" {}").format(" ".join(texts))
        doc = self.doc(alias.doc, alias.name)
        return Section(alias.name, "type", alias.name, head, (), alias.deprecated, doc, ())

    # The rest of a module

    def constant(self, constant: model.Const) -> Section:
        value = self.explainer.value_text(constant.type, constant.value)
        head = Markup(": {} = {}").format(self.type(constant.spelled), value)
        doc = self.doc(constant.doc, constant.name)
        return Section(constant.name, "const", constant.name, head, (), constant.deprecated, doc, ())

    def agent(self, agent: model.Agent) -> Section:
        head = Markup(": {}").format(self.type(agent.spelled))
        doc = self.doc(agent.doc, agent.name)
        return Section(agent.name, "agent", agent.name, head, (), agent.deprecated, doc, ())

    def topic(self, topic: model.Topic) -> Section:
        told = self.explainer.topic(topic)
        head = Markup(": {}").format(self.type(topic.type))
        facts = (*self.per(topic.agent), ("Fingerprint", Markup("<code>{}</code>").format(told.fingerprint)))
        badge = Badge(told.tier, told.tier, "How its values are serialized.")
        doc = self.doc(topic.doc, topic.name)
        return Section(
            topic.name, "topic", topic.name, head, (badge,), topic.deprecated, doc, (Facts(facts),)
        )

    def per(self, agent: model.Agent | None) -> tuple[tuple[str, Markup], ...]:
        if agent is None:
            return ()
        name = self.links.name(agent.full_name, agent.name, self.page)
        return (("Offered per", Markup("<code>{}: {}</code>").format(name, self.type(agent.spelled))),)


def deprecation(reason: str | None) -> Markup:
    """`reason` "" where the schema gives none; None where nothing is deprecated."""
    if reason is None:
        return NOTHING
    return Markup('<p class="deprecated">Deprecated{}</p>').format(f": {reason}" if reason else ".")


def tier_badge(told: report.TypeReport) -> Badge:
    because = "the file asks for it; " if told.asked else ""
    return Badge(told.tier, told.tier, f"{told.tier}: {because}{told.why}.")


def _openness(enum: model.Enum) -> Badge:
    if enum.open:
        return Badge("open", "plain", "Numbers without a name survive a round trip.")
    return Badge("closed", "plain", "Any other number is a decode error.")


def _bindings(subject: model.Struct | model.Union, told: report.TypeReport) -> list[tuple[str, str]]:
    found = [("Codec" if told.tier == "custom" else "Stands for", each) for each in told.bindings]
    numbers = [str(low) if low == high else f"{low} to {high}" for low, high in subject.reserved.numbers]
    reserved = [*numbers, *(quoted(each) for each in subject.reserved.names)]
    if reserved:
        found.append(("Reserved", ", ".join(reserved)))
    if told.used_by:
        found.append(("Used by", ", ".join(told.used_by)))
    return found


def _cost_summary(told: report.TypeReport) -> str:
    if told.cost is None:
        return f"Bytes in {told.tier}, and in other tiers"
    cost = told.cost
    if cost.most == cost.fewest:
        return f"{cost.fewest} bytes in {told.tier}; other tiers"
    most = "no end" if cost.most is None else str(cost.most)
    return f"{cost.fewest} to {most} bytes in {told.tier}; other tiers"


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
