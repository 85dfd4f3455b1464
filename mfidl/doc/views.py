"""The data for the templates. `Markup` is HTML; a `str` is text, and is escaped."""

from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Badge:
    """A word in a rounded box; `tip` is shown for the pointer, and read by screen readers."""

    text: str
    style: str
    tip: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """`id` makes a row a target of links; "" for none."""

    id: str
    cells: tuple[Markup, ...]
    deprecated: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """`columns`: (heading, class of its cells)."""

    caption: str
    columns: tuple[tuple[str, str], ...]
    rows: tuple[Row, ...]
    template: str = "table.html.j2"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A memory layout as an `svg` element, and what would make it smaller ("" where nothing would)."""

    picture: Markup
    hint: str
    template: str = "drawing.html.j2"


@dataclass(frozen=True, slots=True)
class Costs:
    """What each tier takes, folded; and the example that was counted."""

    summary: str
    rows: tuple[tuple[Badge, str, str, str, str], ...]
    example: str
    template: str = "costs.html.j2"


@dataclass(frozen=True, slots=True)
class Facts:
    """Labelled lines."""

    rows: tuple[tuple[str, Markup], ...]
    template: str = "facts.html.j2"


Part = Table | Drawing | Costs | Facts


@dataclass(frozen=True, slots=True)
class Section:
    """One declaration, or one method of a service (then inside of its section). `deprecated` is empty where
    it is not.
    """

    id: str
    keyword: str
    name: str
    head: Markup
    badges: tuple[Badge, ...]
    deprecated: Markup
    doc: Markup
    parts: tuple[Part, ...]
    inner: tuple["Section", ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """Sections of one kind, under one heading."""

    id: str
    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class ModuleLink:
    name: str
    href: str
    current: bool
    summary: Markup
    counts: str


@dataclass(frozen=True, slots=True)
class Page:
    """`index` is the search index as JSON that may stand in a script element."""

    title: str
    path: str
    doc: Markup
    facts: Facts | None
    groups: tuple[Group, ...]
    modules: tuple[ModuleLink, ...]
    home: str
    index: Markup
    version: str
