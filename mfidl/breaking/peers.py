"""F6. Whether programs that run already, built from the older schemas and from the newer ones, still talk.

Until schemas that differ can talk, two peers whose descriptors of a service differ refuse each other with
SCHEMA_MISMATCH (docs/protocol.md, section 2): also where every byte of the one is readable to the other. So
this is a verdict of its own beside the findings, one for each service that both programs have.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from mfidl import model
from mfidl.source import Span

_SHOWN = 6  # differences


@dataclass(frozen=True, slots=True)
class Verdict:
    """`differences` say what of the descriptor changed, the largest parts first named; none: they talk."""

    service: str
    differences: tuple[str, ...]
    here: Span | None
    before: Span | None

    @property
    def refuse(self) -> bool:
        return bool(self.differences)

    @property
    def message(self) -> str:
        if not self.refuse:
            return f"running peers of {self.service} go on talking: its fingerprint stays"
        shown = list(self.differences[:_SHOWN])
        if len(self.differences) > _SHOWN:
            shown.append(f"{len(self.differences) - _SHOWN} more")
        return (
            f"running peers of {self.service} will refuse each other until both are upgraded: "
            f"its fingerprint changes ({', '.join(shown)})"
        )


def verdicts(old: model.Program, new: model.Program) -> list[Verdict]:
    """In the order of their names. A service that is gone is a finding, and has no peers left to ask."""
    before, after = _services(old), _services(new)
    return [
        Verdict(name, _differences(before[name], after[name]), after[name].span, before[name].span)
        for name in sorted(before.keys() & after.keys())
    ]


def _services(program: model.Program) -> Mapping[str, model.Service]:
    return {each.full_name: each for module in program.modules for each in module.services}


def _differences(old: model.Service, new: model.Service) -> tuple[str, ...]:
    if old.fingerprint == new.fingerprint:
        return ()
    before, after = _parts(old.descriptor), _parts(new.descriptor)
    found = [f"{head} is new" for head in after if head not in before]
    found += [f"{head} is gone" for head in before if head not in after]
    found += [f"{head} differs" for head in after if head in before and before[head] != after[head]]
    return tuple(found) or ("the order of its methods",)


def _parts(descriptor: str) -> dict[str, list[str]]:
    """The lines of each method and type of a descriptor, under words for it."""
    parts: dict[str, list[str]] = {}
    head = ""
    for line in descriptor.splitlines():
        words = line.split()
        if line.startswith(" method "):
            head = f"method `{words[1]}`"
        elif line.startswith("type "):
            head = f"type `{words[1]}`"
        elif line.startswith((" per ", "service ")):
            head = "`per`" if line.startswith(" ") else "the service"
        parts.setdefault(head, []).append(line)
    return parts
