"""F6. Which findings fail a comparison: one table, with a row for each profile and a column for each impact.

A finding with several impacts fails if one of them does, and is shown if one of them is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from mfidl.breaking.change import Change
from mfidl.breaking.effect import Effect
from mfidl.breaking.rules import Impact


class Rule(Enum):
    FAILS = "fails"
    FAILS_UNLESS_ADAPTED = "fails, unless running peers adapt"
    FAILS_IF_NOTICED = "fails, if running peers or archives notice"
    SHOWN = "is shown"
    HIDDEN = "is left out"


_F, _A, _N, _S, _H = Rule

_TABLE: dict[str, tuple[Rule, Rule, Rule, Rule, Rule]] = {
    #          wire, layout, source, behaviour, rollout
    "default": (_A, _A, _F, _F, _S),
    "live": (_N, _H, _H, _F, _N),
    "strict": (_F, _F, _F, _F, _F),
}


@dataclass(frozen=True, slots=True)
class Profile:
    rules: Mapping[Impact, Rule]

    def shows(self, change: Change) -> bool:
        return any(self.rules[impact] is not Rule.HIDDEN for impact in change.impacts)

    def fails(self, change: Change, effect: Effect) -> bool:
        return any(_fails(self.rules[impact], effect) for impact in change.impacts)

    def with_rules(self, impacts: Iterable[Impact], rule: Rule) -> "Profile":
        return Profile({**self.rules, **dict.fromkeys(impacts, rule)})


def _fails(rule: Rule, effect: Effect) -> bool:
    match rule:
        case Rule.FAILS:
            return True
        case Rule.FAILS_UNLESS_ADAPTED:
            return effect is not Effect.ADAPTED
        case Rule.FAILS_IF_NOTICED:
            return effect is Effect.NOTICED
        case Rule.SHOWN | Rule.HIDDEN:
            return False


PROFILES = {name: Profile(dict(zip(Impact, row, strict=True))) for name, row in _TABLE.items()}
