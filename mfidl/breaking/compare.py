"""F6. Compares two whole programs: what was removed, and what both have, pair by pair."""

from collections.abc import Iterable, Mapping

from mfidl import model
from mfidl.breaking.change import Change, Changes
from mfidl.breaking.graphs import compare_graphs
from mfidl.breaking.reach import Reach
from mfidl.breaking.rules import Impact
from mfidl.breaking.services import compare_services, compare_topics
from mfidl.breaking.types import compare_declarations

_W, _S, _B = Impact.WIRE, Impact.SOURCE, Impact.BEHAVIOUR


def compare(old: model.Program, new: model.Program) -> list[Change]:
    """The findings about every module of `old`, imported ones too: what they change reaches those that import
    them.
    """
    changes = Changes()
    reach = Reach(new)
    modules = {module.name: module for module in new.modules}
    for module in old.modules:
        if module.name not in modules and not module.requested:
            continue  # no module imports it any more; its replacement is compared where it is used
        if module.name not in modules:
            words = f"module `{module.name}` is gone (it was {module.path})"
            changes.report("B0101", (_W, _S) if module.services else (_S,), words, None, None)
            continue
        _modules(module, modules[module.name], new, reach, changes)
    compare_graphs(old, new, reach, changes)
    return changes.found


def _modules(
    old: model.Module, new: model.Module, program: model.Program, reach: Reach, changes: Changes
) -> None:
    everything = {**_named(new.declarations), **_named(new.constants), **_named(new.agents)}
    everything |= {**_named(new.services), **_named(new.topics)}
    for before in (*old.declarations, *old.constants, *old.agents, *old.services, *old.topics):
        after = everything.get(before.full_name)
        if after is None:
            _gone(before, changes)
        elif isinstance(before, model.Service) and isinstance(after, model.Service):
            compare_services(before, after, program, changes)
        elif isinstance(before, model.Topic) and isinstance(after, model.Topic):
            compare_topics(before, after, changes)
        elif isinstance(before, model.Const) and isinstance(after, model.Const):
            _constants(before, after, changes)
        elif isinstance(before, model.Agent) and isinstance(after, model.Agent):
            _agents(before, after, changes)
        elif isinstance(before, model.Declaration) and isinstance(after, model.Declaration):
            compare_declarations(before, after, program, reach, changes)
        else:
            words = f"`{before.full_name}` was {_word(before)}, and is {_word(after)}"
            changes.report("B0103", (_W, _S), words, after.span, before.span)


_Anything = model.Declaration | model.Const | model.Agent | model.Service | model.Topic


def _named(items: Iterable[_Anything]) -> Mapping[str, _Anything]:
    return {each.full_name: each for each in items}


def _word(each: _Anything) -> str:
    match each:
        case model.Const():
            return "a constant"
        case model.Agent():
            return "an agent"
        case model.Service():
            return "a service"
        case model.Topic():
            return "a topic"
        case _:
            return "a type"


def _gone(before: _Anything, changes: Changes) -> None:
    code, impacts = "B0102", {_S}
    if isinstance(before, model.Service):
        code, impacts = "B0601", {_W, _S}
    elif isinstance(before, model.Topic):
        code, impacts = "B0701", {_W, _S}
    word = _word(before).split()[-1]
    changes.report(code, impacts, f"{word} `{before.full_name}` is gone", None, before.span)


def _constants(before: model.Const, after: model.Const, changes: Changes) -> None:
    name = f"constant `{after.full_name}`"
    if before.type != after.type:
        changes.report("B0104", (_S,), f"{name} {_types(before, after)}", after.span, before.span)
    elif not model.same(before.value, after.value):
        changes.report("B0104", (_B,), f"{name} has another value", after.span, before.span)


def _agents(before: model.Agent, after: model.Agent, changes: Changes) -> None:
    if before.type != after.type:
        words = f"agent `{after.full_name}` {_types(before, after)}"
        changes.report("B0801", (_W, _S), words, after.span, before.span)


def _types(before: model.Const | model.Agent, after: model.Const | model.Agent) -> str:
    return f"was {model.spell(before.type)}, and is {model.spell(after.type)}"
