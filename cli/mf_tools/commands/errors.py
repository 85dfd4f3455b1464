"""`mf errors`: what the code of a failed call means, and what its caller can do."""

import re

import click

from mf_tools.guard import USAGE, CommandError
from mf_tools.output import emit, line, table

CODES: dict[str, tuple[int, str, str]] = {
    "OK": (0, "The call has its result.", ""),
    "DECLARED": (
        1,
        "The method has answered with an error that its schema declares.",
        "Handle it by its type.",
    ),
    "INVALID_ARGUMENT": (
        2,
        "A value breaks a constraint of the schema.",
        "Change the value; the message names the field. Calling again is of no use.",
    ),
    "UNKNOWN_SERVICE": (
        3,
        "The server does not offer the service, or no server is registered for it.",
        "`mf ls` shows what is registered; look whether the server runs and registers at the controller.",
    ),
    "UNKNOWN_AGENT": (
        4,
        "The service is there, but not for this agent.",
        "`mf ls -l SERVICE` shows the agents.",
    ),
    "UNKNOWN_METHOD": (
        5,
        "The server's schema has no such method.",
        "`mf describe SERVICE` shows its methods; renew the older side.",
    ),
    "SCHEMA_MISMATCH": (
        6,
        "Both sides have other versions of the schema, and no rule leads from one to the other.",
        "The message names the difference; `mfidlc breaking` finds it before a release.",
    ),
    "HANDLER_FAILED": (
        7,
        "The code of the method has failed; it may have run.",
        "Look into the server's log: handler_failed, with the reference that the message names.",
    ),
    "DEADLINE_EXCEEDED": (
        8,
        "No answer came in time.",
        "Give more time, or look why the server is slow: `mf latency`, `mf doctor`.",
    ),
    "CANCELLED": (9, "The caller, or the end of its client, has ended the call.", ""),
    "OVERLOADED": (
        10,
        "A limit of the server was reached; the call was not executed.",
        "Call again later, or add servers; docs/limits.md lists the limits.",
    ),
    "UNAVAILABLE": (
        11,
        "No server could be reached; the call was not executed.",
        "`mf doctor ADDRESS` finds out why.",
    ),
    "CONNECTION_LOST": (
        12,
        "The connection ended during the call; it may have run.",
        "Call again if the method is idempotent.",
    ),
    "MESSAGE_TOO_LARGE": (
        13,
        "A message is larger than a side takes.",
        "The message names both sizes: send less, or raise max_payload.",
    ),
    "DECODE_ERROR": (
        14,
        "Bytes are not what the schema says.",
        "The message names field and offset: one side has a fault, or another schema.",
    ),
    "PROTOCOL_ERROR": (
        15,
        "The peer does not speak MF, or breaks the protocol.",
        "Look at the address and its scheme (tcp or tls): `mf doctor ADDRESS`.",
    ),
    "UNAUTHENTICATED": (
        16,
        "The server does not accept what this side shows of itself.",
        "Look at certificate and token: `mf certs show`, `mf token show`.",
    ),
    "PERMISSION_DENIED": (
        17,
        "The access file does not allow it.",
        "`mf access check FILE IDENTITY ACTION …` says which line decides.",
    ),
    "SHUTTING_DOWN": (
        18,
        "The server stops; the call was not executed.",
        "Another instance takes it; call again.",
    ),
    "INTERNAL": (19, "A fault of the runtime itself.", "Please report it."),
}


@click.command()
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="JSON, for scripts.")
def command(code: str | None, as_json: bool) -> None:
    """Explain a code of a failed call, by name or number; all of them without CODE."""
    names = [*CODES] if code is None else [_name(code)]
    if as_json:
        found = [
            {"code": CODES[name][0], "name": name, "meaning": CODES[name][1], "cure": CODES[name][2]}
            for name in names
        ]
        emit(found if code is None else found[0])
    elif code is None:
        table(("code", "name", "meaning"), [[str(CODES[name][0]), name, CODES[name][1]] for name in names])
    else:
        number, meaning, cure = CODES[names[0]]
        line(f"{names[0]} ({number})")
        line(f"  {meaning}")
        if cure:
            line(f"  {cure}")


def _name(code: str) -> str:
    wanted = code.upper()
    if wanted.isascii() and wanted.isdecimal():
        wanted = next((name for name in CODES if str(CODES[name][0]) == wanted), wanted)
    if wanted in CODES:
        return wanted
    if re.fullmatch(r"[BELWR]\d{4}", wanted):
        raise CommandError(f"{wanted} is a message of the compiler: mfidlc help {wanted}", USAGE)
    from difflib import get_close_matches

    near = get_close_matches(wanted, CODES, 1)
    raise CommandError(f"there is no code '{code}'" + (f"; did you mean {near[0]}?" if near else ""), USAGE)
