"""L04: enums that will hurt when they grow."""

from collections.abc import Iterator

from mfidl.lint.subject import Finding, Subject


def enums_without_zero(subject: Subject) -> Iterator[Finding]:
    """Compares numbers and not text, since a member may be written as 0x0 or as a constant."""
    for enum in subject.module.enums:
        if enum.members and enum.span and not any(member.number == 0 for member in enum.members):
            yield Finding("L0401", enum.span, {"name": enum.name})


def closed_enums(subject: Subject) -> Iterator[Finding]:
    for enum in subject.module.enums:
        if not enum.open and enum.span:
            yield Finding("L0402", enum.span, {"name": enum.name}, f"write: open enum {enum.name}")
