"""What a controller has registered, in the order of names."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mf_tools.connect import Place
from mf_tools.guard import CommandError

if TYPE_CHECKING:
    from mf.controller import ControllerClient, Entry, Instance, Offer

MAILBOX = "mf.flex.Mailbox"
_OWN = "mf."
_WITHIN = 10.0


@dataclass(frozen=True, slots=True)
class Registered:
    """One offer of one process. `instance`: its short public id; through a relay, which does not say it, the
    first digits of its nonce. `peer`: from where it has registered, if that is said."""

    kind: str
    name: str
    agent: str
    addresses: tuple[str, ...]
    schema: str
    weight: int
    labels: dict[str, str]
    alone: bool
    instance: str
    process: str
    peer: str
    verified: bool

    @property
    def address(self) -> str:
        """One that other hosts reach, if there is one."""
        return next((each for each in self.addresses if "://" in each), self.addresses[0])

    @property
    def schema_id(self) -> str:
        return self.schema[:8]

    @property
    def is_own(self) -> bool:
        """Of the runtime: mailboxes of flexible processes, replicas."""
        return self.name.startswith(_OWN)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def entries(place: Place, within: float = _WITHIN) -> list[Registered]:
    """All that is registered. A relay answers find and watch, and not list. `within`: seconds."""
    import mf

    options = mf.CallOptions(deadline=within)
    with place.controller() as controller:
        if place.where.startswith("relay"):
            found = [_of_instance(each) for each in _instances(controller)]
        else:
            found = [_of_entry(each) for each in controller.list_(options=options)]
    return sorted(found, key=lambda each: (each.kind, each.name, each.agent, each.instance))


def _instances(controller: "ControllerClient") -> "Iterable[Instance]":
    import mf
    from mf.controller import Filter, KeyKind

    for kind in (KeyKind.service, KeyKind.topic):
        what = Filter(kind, "*", None)
        found = controller.find(what, options=mf.CallOptions(deadline=_WITHIN))
        if not found.more:
            yield from found.instances
            continue
        with controller.watch(what, 0, 0, options=mf.CallOptions(deadline=_WITHIN)) as changes:
            for change in changes:
                yield from change.put
                if not change.more:
                    break


def _of_entry(entry: "Entry") -> Registered:
    return _made(entry.offer, entry.instance, entry.process, entry.peer, entry.verified)


def _of_instance(each: "Instance") -> Registered:
    return _made(each.offer, each.instance.hex[:8], each.process, "", each.verified)


def _made(offer: "Offer", instance: str, process: str, peer: str, verified: bool) -> Registered:
    from mf.controller import KeyKind

    return Registered(
        "topic" if offer.key.kind == KeyKind.topic else "service",
        offer.key.name,
        offer.key.agent,
        tuple(offer.addresses),
        offer.fingerprint.hex if offer.fingerprint.int else "",
        offer.weight,
        dict(offer.labels),
        offer.alone,
        instance,
        process,
        peer,
        verified,
    )


def full_name(place: Place, name: str, kind: str = "") -> str:
    """A name with a dot is whole. A short one is looked up at the controller, where it must be unique."""
    if "." in name or not place.is_controller:
        return name
    names = _names(place, kind)
    found = {each for each in names if each.rpartition(".")[2] == name}
    if len(found) > 1:
        raise CommandError(f"'{name}' is one of {', '.join(sorted(found))}: give the full name")
    if not found:
        near = _nearest(name, names)
        hint = f"did you mean {near}?" if near else "`mf ls` shows what is"
        raise CommandError(f"nothing with the name '{name}' is registered; {hint}")
    return found.pop()


@contextmanager
def hinting(place: Place, name: str, kind: str = "") -> Iterator[None]:
    """Within it an UNKNOWN_SERVICE about the full name `name` becomes a CommandError that says which name is
    registered that is most like it, if there is one."""
    import mf

    try:
        yield
    except mf.Error as failed:
        if failed.code is not mf.Code.UNKNOWN_SERVICE or not place.is_controller:
            raise
        near = _nearest(name, _names(place, kind))
        if not near:
            raise
        raise CommandError(f"{failed}; did you mean {near}?") from None


def _names(place: Place, kind: str) -> set[str]:
    return {each.name for each in entries(place) if not kind or each.kind == kind}


def _nearest(name: str, names: Iterable[str]) -> str:
    """By the last parts, or as a whole; empty: none is like it."""
    last = {each.rpartition(".")[2].lower(): each for each in names}
    near = get_close_matches(name.rpartition(".")[2].lower(), last, 1)
    return last[near[0]] if near else ""
