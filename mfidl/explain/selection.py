"""Resolves what the user names: a type, service, method or topic, by its short or full name."""

from dataclasses import dataclass

from mfidl import model
from mfidl.diagnostics import did_you_mean


@dataclass(frozen=True, slots=True)
class Method:
    """A method with the service that it belongs to."""

    service: model.Service
    method: model.Method


Selected = model.Declaration | model.Service | model.Topic | Method


class UnknownNameError(Exception):
    """The text says what was not found, or what it could mean."""


def select(program: model.Program, name: str) -> tuple[model.Module, Selected]:
    """Raises UnknownNameError. Names of the requested modules win over imported ones."""
    name = _without_local_word(program, name)
    for modules in (program.requested, program.modules):
        found = [
            (module, target, full)
            for module in modules
            for full, target in _named(module)
            if name == full or full.endswith(f".{name}")
        ]
        exact = [each for each in found if each[2] in (name, f"{each[0].name}.{name}")]
        for candidates in (exact, found):
            if len(candidates) == 1:
                return candidates[0][0], candidates[0][1]
        if found:
            several = ", ".join(f"`{full}`" for _, _, full in found)
            raise UnknownNameError(f"`{name}` could be {several}. Give one of them.")
    known = {
        short for module in program.requested for full, _ in _named(module) for short in _shorts(full, module)
    }
    hint = did_you_mean(name, sorted(known))
    problem = f"no type, service, method or topic `{name}`"
    raise UnknownNameError(f"{problem}; {hint}" if hint else f"{problem} in {_list(program)}.")


def _without_local_word(program: model.Program, name: str) -> str:
    """`t.Document` as the file writes it after `import ... as t;` is `sf1.text.Document`."""
    word, dot, rest = name.partition(".")
    for module in program.requested:
        for each in module.imports if dot else ():
            if each.local_name == word:
                return f"{each.module}.{rest}"
    return name


def _named(module: model.Module) -> list[tuple[str, Selected]]:
    found: list[tuple[str, Selected]] = [(each.full_name, each) for each in module.declarations]
    for service in module.services:
        found.append((service.full_name, service))
        found += [(f"{service.full_name}.{each.name}", Method(service, each)) for each in service.methods]
    found += [(each.full_name, each) for each in module.topics]
    return found


def _shorts(full: str, module: model.Module) -> set[str]:
    return {full, full.removeprefix(f"{module.name}."), full.rpartition(".")[2]}


def _list(program: model.Program) -> str:
    return ", ".join(module.name for module in program.requested)
