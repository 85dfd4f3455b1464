"""F6. Compares services, their methods, and topics of the same name in two programs."""

from dataclasses import dataclass
from math import inf

from mfidl import model
from mfidl.breaking.change import Changes
from mfidl.breaking.rules import Impact
from mfidl.breaking.types import compare_implicit

_W, _S, _B = Impact.WIRE, Impact.SOURCE, Impact.BEHAVIOUR

# The deadline of a call without an explicit one: see docs/protocol.md.
DEFAULT_DEADLINE_NS = 30_000_000_000


def compare_services(
    old: model.Service, new: model.Service, program: model.Program, changes: Changes
) -> None:
    name = f"service `{new.full_name}`"
    _scope(name, old, new, changes)
    if dict(old.target_names) != dict(new.target_names):
        changes.report("B0105", (_S,), f"{name} has another name in a target language", new.span, old.span)
    bases = {each.full_name for each in program.extended(new)}
    if old.extends is not None and old.extends not in bases:
        words = f"{name} does not extend `{old.extends}` any more: its servers are not found by that name"
        changes.report("B0616", (_W, _S), words, new.span, old.span)
    left = {method.name: method for method in old.methods}
    pairs = [(left.pop(method.name), method) for method in new.methods if method.name in left]
    paired = {after for _, after in pairs}
    for method in new.methods:
        earlier = next((each for each in method.was if each in left), None)
        if method not in paired and earlier is not None:
            words = f"method `{earlier}` of {name} is called `{method.name}` now"
            changes.report("B0604", (_S,), words, method.span, left[earlier].span)
            pairs.append((left.pop(earlier), method))
    told = {each.name for each in old.methods if not old.declares(each) and old.extends in bases}
    gone = [each for each in left.values() if each.name not in told]  # of the service that both extend
    _gone(name, gone, new, {after for _, after in pairs}, changes)
    for before, after in pairs:
        if before.full_name != after.full_name and before.name == after.name:
            owners = f"is declared by `{_owner(after)}` now, before by `{_owner(before)}`"
            words = f"method `{after.name}` of {name} {owners}"
            changes.report("B0617", (_S,), words, after.span, before.span)
        if after.name not in told:
            _method(before, after, program, changes)


def _owner(method: model.Method) -> str:
    """The service that declares it."""
    return method.full_name.rpartition(".")[0]


def _gone(
    name: str,
    gone: list[model.Method],
    new: model.Service,
    known: set[model.Method],
    changes: Changes,
) -> None:
    """Methods are matched by name; their order is irrelevant."""
    for each in gone:
        words = f"method `{each.name}` of {name} is gone"
        other = next((m for m in new.methods if m.index == each.index and m not in known), None)
        if other is not None:
            words += f'; if `{other.name}` took its place, write @was("{each.name}") before it'
        changes.report("B0602", (_W, _S), words, new.span, each.span)


def compare_topics(old: model.Topic, new: model.Topic, changes: Changes) -> None:
    name = f"topic `{new.full_name}`"
    _scope(name, old, new, changes)
    if old.type != new.type:
        words = f"{name} was of `{old.type.full_name}`, and is of `{new.type.full_name}`"
        changes.report("B0702", (_W, _S), words, new.span, old.span)
    if dict(old.target_names) != dict(new.target_names):
        changes.report("B0105", (_S,), f"{name} has another name in a target language", new.span, old.span)
    if new.replay < old.replay:
        kept = f"keeps {new.replay or 'no'} messages of each agent now"
        changes.report("B0703", (_B,), f"{name} {kept}, before {old.replay}", new.span, old.span)
    gone = [each for each in old.overflow if each not in new.overflow]
    if gone:
        words = f"{name} does not allow {_list(gone)} any more"
        changes.report("B0704", (_B,), words, new.span, old.span)
    elif new.default_overflow != old.default_overflow:
        words = f"{name} has {_list([new.default_overflow])} for subscribers that name no policy, before "
        changes.report("B0704", (_B,), words + _list([old.default_overflow]), new.span, old.span)


def _scope(
    name: str, old: model.Service | model.Topic, new: model.Service | model.Topic, changes: Changes
) -> None:
    before = old.agent.full_name if old.agent else None
    after = new.agent.full_name if new.agent else None
    if before != after:
        words = f"{name} was {_per(before)}, and is {_per(after)}"
        changes.report("B0605", (_W, _S, _B), words, new.span, old.span)


def _per(agent: str | None) -> str:
    return f"per `{agent}`" if agent else "not per agent"


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two versions of one method."""

    old: model.Method
    new: model.Method
    changes: Changes

    def report(self, code: str, impacts: tuple[Impact, ...], words: str) -> None:
        words = f"method `{self.new.full_name}` {words}"
        self.changes.report(code, impacts, words, self.new.span, self.old.span)


def _method(old: model.Method, new: model.Method, program: model.Program, changes: Changes) -> None:
    pair = _Pair(old, new, changes)
    if dict(old.target_names) != dict(new.target_names):
        pair.report("B0105", (_S,), "has another name in a target language")
    _form(pair)
    _promises(pair)
    _errors(pair)
    owner = f"`{new.full_name}`"
    if (old.param_stream is None) == (new.param_stream is None):
        compare_implicit(old.params, new.params, _owner(new), owner, "parameter", program, changes)
    if (old.result_stream is None) == (new.result_stream is None):
        compare_implicit(old.results, new.results, _owner(new), owner, "result", program, changes)


def _form(pair: _Pair) -> None:
    """Compares the kinds of exchange."""
    old, new = pair.old, pair.new
    if old.oneway != new.oneway:
        pair.report("B0606", (_W, _S, _B), f"is {'oneway now' if new.oneway else 'not oneway any more'}")
    if _stream(old.param_stream) != _stream(new.param_stream):
        pair.report("B0611", (_W, _S), "takes another stream")
    if _stream(old.result_stream) != _stream(new.result_stream):
        pair.report("B0611", (_W, _S), "gives another stream")
    if old.replicated != new.replicated:
        pair.report("B0612", (_W, _B), f"{_replication(old)}, and {_replication(new)} now")
    if old.single_result != new.single_result and old.results.fields and new.results.fields:
        pair.report("B0614", (_S,), "gives its result in another form")


def _promises(pair: _Pair) -> None:
    """Compares the guarantees for callers."""
    old, new = pair.old, pair.new
    if old.idempotent and not new.idempotent:
        pair.report("B0607", (_B,), "is not idempotent any more")
    if old.ordered and not new.ordered:
        pair.report("B0615", (_B,), "does not run the calls of a batch in order any more")
    if _batch(new) < _batch(old):
        before = old.batch_max if old.batch_max is not None else "any number"
        pair.report("B0609", (_B,), f"takes {new.batch_max} items a message now, before {before}")
    least, most = _deadline(new), _deadline(old)
    if least < most:
        pair.report("B0610", (_B,), f"has {least / 1e9:g} s to answer now, before {most / 1e9:g} s")
    if new.cached is not None and _stale(new.cached) > (_stale(old.cached) if old.cached else 0):
        pair.report("B0613", (_B,), "is cached for longer than before")
    elif new.cached is not None and new.cached.errors and not (old.cached is not None and old.cached.errors):
        pair.report("B0613", (_B,), "has its errors cached now")


def _errors(pair: _Pair) -> None:
    before = [error.full_name for error in pair.old.throws]
    after = [error.full_name for error in pair.new.throws]
    if after[: len(before)] != before:
        pair.report("B0608", (_W, _S), f"threw {_list(before)}, and throws {_list(after)}")
    elif len(after) > len(before):
        added = _list(after[len(before) :])
        pair.report("B0608", (_B,), f"throws {added} too, which older callers do not know")


def _list(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) if names else "nothing"


def _batch(method: model.Method) -> float:
    return method.batch_max if method.batch_max is not None else inf


def _stream(stream: model.Stream | None) -> str | None:
    return model.spell(stream.type) if stream is not None else None


def _replication(method: model.Method) -> str:
    return f"is replicated by `{method.replicated}`" if method.replicated else "is not replicated"


def _deadline(method: model.Method) -> int:
    """The deadline in nanoseconds of a call without an explicit one."""
    return method.deadline_ns if method.deadline_ns is not None else DEFAULT_DEADLINE_NS


def _stale(cache: model.Cache) -> float:
    """The largest age of an answer, in nanoseconds."""
    return cache.ttl_ns if cache.ttl_ns is not None else inf
