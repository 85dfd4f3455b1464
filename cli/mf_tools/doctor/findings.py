"""What the doctor has found."""

from dataclasses import dataclass, field
from typing import Any

OK, WARN, FAULT = "ok", "warning", "fault"


@dataclass(frozen=True, slots=True)
class Finding:
    """`fault`: its name, for scripts and tests; empty if all is well."""

    check: str
    state: str
    text: str
    fault: str = ""
    cure: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "check": self.check,
            "state": self.state,
            "text": self.text,
            **({"fault": self.fault, "cure": self.cure} if self.fault else {}),
        }


@dataclass(slots=True)
class Findings:
    all: list[Finding] = field(default_factory=list)

    def ok(self, check: str, text: str) -> None:
        self.all.append(Finding(check, OK, text))

    def warn(self, check: str, fault: str, text: str, cure: str) -> None:
        self.all.append(Finding(check, WARN, text, fault, cure))

    def fault(self, check: str, fault: str, text: str, cure: str) -> None:
        """Later checks that need this one are not made."""
        self.all.append(Finding(check, FAULT, text, fault, cure))

    def has_failed(self) -> bool:
        return any(each.state == FAULT for each in self.all)
