"""`mf doctor`: why an address does not work."""

from pathlib import Path

import click

from mf_tools.addresses import Address, parsed
from mf_tools.connect import Place, placed
from mf_tools.doctor.findings import FAULT, WARN, Findings
from mf_tools.guard import FAILED, CommandError
from mf_tools.output import emit, line, painted, safe

_STYLES = {"ok": "green", WARN: "yellow", FAULT: "bold red"}


@click.command()
@click.argument("address", required=False)
@click.option("--service", help="Look for its registration, instances and schemas, too: the full name.")
@click.option("--agent", help="Of --service.")
@placed
def command(place: Place, address: str | None, service: str | None, agent: str | None) -> int:
    """Find out why ADDRESS (or the context's) does not work: files, name, route, port, TLS, HELLO, identity,
    load, health, access, clock, ledger, registration, schema, in this order. Ends with 1 where it has found a
    fault.
    """
    if address is not None:
        place.context["where"] = address
    findings = Findings()
    for each in _addresses(place, findings):
        place.context["where"] = str(each)
        _examine(place, each, service, agent, findings)
    if place.json:
        emit([each.as_json() for each in findings.all])
    else:
        for found in findings.all:
            painted(f"{found.state:<8}{found.check:<13}{safe(found.text)}", _STYLES[found.state])
            if found.cure:
                line(f"{'':<21}-> {found.cure}")
    return FAILED if findings.has_failed() else 0


def _addresses(place: Place, findings: Findings) -> list[Address]:
    try:
        return parsed(place.where)
    except CommandError as wrong:
        where = place.where
        fault = "path_as_address" if Path(where).exists() else "no_address"
        cure = f"write unix:{Path(where).absolute()}" if fault == "path_as_address" else "as mf://host:7400"
        findings.fault("address", fault, wrong.line, cure)
        return []


def _examine(
    place: Place, address: Address, service: str | None, agent: str | None, findings: Findings
) -> None:
    from mf_tools.doctor import network, own, peer, tls

    own.looked_at(place.context, address, findings)
    if findings.has_failed():
        return
    reached = network.reached(address, findings)
    if reached is None:
        return
    if address.over_tls:
        tls.looked_at(address, reached, place.context, findings)
        if findings.has_failed():
            return
    peer.looked_at(place, address, reached, service, agent, findings)
