"""`mf access check`: what an access file allows, and by which line."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mf_tools.guard import FAILED, USAGE, CommandError
from mf_tools.output import emit, line

if TYPE_CHECKING:
    import mf

_ACTIONS = (
    "register",
    "call",
    "lead",
    "watch",
    "publish",
    "subscribe",
    "send",
    "replicate",
    "list",
    "administer",
    "relay",
)
_KINDS = {"uid": "UID", "token": "TOKEN"}  # others are names in certificates


@click.group()
def command() -> None:
    """Ask an access file what it allows."""


@command.command(short_help="Look for mistakes, or ask what is allowed.")
@click.argument("file")
@click.argument("identity", required=False)
@click.argument("action", required=False, type=click.Choice(_ACTIONS))
@click.argument("thing", metavar="[OBJECT]", default="")
@click.option("--per", default="", help="The agent, or of a subscription a pattern.")
@click.option("--address", default="", help="Of a registration: where the server is found.")
@click.option("--weight", type=int, default=1, help="Of a registration.")
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def check(
    file: str,
    identity: str | None,
    action: str | None,
    thing: str,
    per: str,
    address: str,
    weight: int,
    as_json: bool,
) -> int:
    """Look for mistakes in an access file; with IDENTITY and ACTION, ask which line decides.

    IDENTITY is one as access files name it (uid:1000, spiffe://…, dns:…, token:…), or 'nobody'. OBJECT of
    a call is service and method joined by a dot. Ends with 1 if it is denied, or the file has mistakes.
    """
    from mf.access import Action, Wish, load_rules

    try:
        rules = load_rules(file)
    except ValueError as wrong:
        raise CommandError(str(wrong), FAILED) from None
    if identity is None:
        if as_json:
            emit({"lines": len(rules)})
        else:
            line(f"{file}: {len(rules)} lines allow or deny something, no mistakes")
        return 0
    if action is None:
        raise CommandError(f"say what {identity} wants to do: {', '.join(_ACTIONS)}", USAGE)
    decided = rules.decide(_identity(identity), Wish(Action(action), thing, per, address, weight))
    text = Path(file).read_text("utf-8").splitlines()[decided.line - 1].strip() if decided.line else ""
    if as_json:
        emit({"allowed": decided.allowed, "line": decided.line, "text": text})
    else:
        words = "allowed" if decided.allowed else "denied"
        line(f"{words}: " + (f"line {decided.line}: {text}" if decided.line else "no line fits"))
    return 0 if decided.allowed else FAILED


def _identity(name: str) -> "mf.Identity":
    import mf
    from mf.access import objection_to_name

    if name == "nobody":
        return mf.Identity()
    why = objection_to_name(name)
    if why or "*" in name:
        words = why or "uid:1000, spiffe://…, dns:…, token:…, or nobody"
        raise CommandError(f"'{name}' is no identity: {words}", USAGE)
    kind = _KINDS.get(name.partition(":")[0], "CERTIFICATE")
    return mf.Identity(mf.IdentityKind[kind], name)
