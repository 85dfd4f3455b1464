"""`mf ls`: what is registered at a controller."""

from collections.abc import Callable
from fnmatch import fnmatchcase
from time import monotonic
from typing import Any

import click

from mf_tools.connect import Place, placed
from mf_tools.output import emit, table
from mf_tools.registry import Registered, entries

_WITHIN = 2.0

Answers = dict[tuple[str, str], str]
"""How a server is, by its address and the name of what it offers."""


@click.command()
@click.argument("pattern", required=False)
@click.option("--topics", "only", flag_value="topic", help="Topics alone.")
@click.option("--services", "only", flag_value="service", help="Services alone.")
@click.option("-l", "--long", is_flag=True, help="A line for each instance, with its addresses.")
@click.option("-a", "--all", "everything", is_flag=True, help="With what the runtime registers for itself.")
@click.option(
    "--health", is_flag=True, help="Ask each instance, without the token, whether it serves; implies --long."
)
@placed
def command(
    place: Place, pattern: str | None, only: str | None, long: bool, everything: bool, health: bool
) -> None:
    """List what is registered at a controller: services and topics, their agents, instances and schemas.

    PATTERN: a full name or a part with '*', as 'sf1.*'.
    """
    found = [
        each
        for each in entries(place)
        if (everything or not each.is_own or (pattern or "").startswith("mf."))
        and (only is None or each.kind == only)
        and (pattern is None or fnmatchcase(each.name, pattern))
    ]
    answers: Answers = {}
    if health:
        for address in dict.fromkeys(each.address for each in found):
            answers |= _health(place, [each for each in found if each.address == address])
    if place.json:
        emit([{**each.as_json(), **({"health": answers[_key(each)]} if health else {})} for each in found])
    elif long or health:
        _long(found, answers)
    else:
        _short(found)


def _short(found: list[Registered]) -> None:
    keys: dict[tuple[str, str], list[Registered]] = {}
    for each in found:
        keys.setdefault((each.kind, each.name), []).append(each)
    rows = [
        [
            kind,
            name,
            _few([each.agent for each in of]),
            str(len({each.instance for each in of})),
            _few([each.schema_id for each in of]),
        ]
        for (kind, name), of in keys.items()
    ]
    table(("kind", "name", "agents", "instances", "schemas"), rows)


def _long(found: list[Registered], answers: Answers) -> None:
    columns: list[tuple[str, Callable[[Any], str]]] = [
        ("kind", lambda each: each.kind),
        ("name", lambda each: each.name),
        ("agent", lambda each: each.agent),
        ("process", lambda each: each.process),
        ("instance", lambda each: each.instance),
        ("schema", lambda each: each.schema_id),
        ("addresses", lambda each: " ".join(each.addresses)),
        ("state", lambda each: answers.get(_key(each)) or ("" if each.verified else "from the store")),
    ]
    table([head for head, _ in columns], [[cell(each) for _, cell in columns] for each in found])


def _few(names: list[str], most: int = 3) -> str:
    shown = [each for each in dict.fromkeys(names) if each]
    return ", ".join(shown[:most]) + (f", … {len(shown)}" if len(shown) > most else "")


def _key(entry: Registered) -> tuple[str, str]:
    return entry.address, entry.name


def _health(place: Place, entries: list[Registered]) -> Answers:
    """Of the offers of one server, by its health service; whether it answers, if it has none."""
    import mf
    from mf_tools.health import reasons_of

    answers: Answers = {}
    with place.at(entries[0].address, token=False) as client:  # as it has registered itself
        for entry in entries:
            if _key(entry) in answers:
                continue
            topic = entry.kind == "topic"
            begun = monotonic()
            try:
                client.describe(entry.name, topic=topic, deadline=_WITHIN)
                took = monotonic() - begun
                reasons = reasons_of(client, "" if topic else entry.name, _WITHIN)
            except mf.Error as failed:
                answers[_key(entry)] = failed.code.name
            else:
                state = "not serving: " + "; ".join(reasons) if reasons else "ok"
                answers[_key(entry)] = f"{state}, {took * 1000:.1f} ms"
    return answers
