"""Reports of services and topics: method indices, frames, fingerprints, checks."""

from mfidl import model
from mfidl.explain import report
from mfidl.explain.closure import members, reached
from mfidl.explain.types import Types
from mfidl.explain.wording import constraints_of, positions
from mfidl.plan.spelling import duration_text, signature, type_text

_HEADER = 16  # of a frame (docs/protocol.md, 1)
_ALIGNED = 8
DEFAULT_BATCH = 128


class Services:
    def __init__(self, types: Types) -> None:
        self._types = types
        self._program = types.program

    def service(self, service: model.Service, module: str) -> report.ServiceReport:
        return report.ServiceReport(
            service.name,
            service.full_name,
            _agent(service.agent, module),
            service.fingerprint.hex(),
            tuple(self.method(each, service, module) for each in service.methods),
            service.extends,
            annotations=self._types.annotations(service.annotations, module),
        )

    def topic(self, topic: model.Topic, module: str) -> report.TopicReport:
        told = self._types.declaration(self._program.declaration(topic.type.full_name), module)
        assert isinstance(told, report.TypeReport)
        return report.TopicReport(
            topic.name,
            topic.full_name,
            _agent(topic.agent, module),
            topic.fingerprint.hex(),
            topic.replay,
            topic.overflow,
            type_text(topic.type, module),
            told.tier,
            told.cost,
            None if told.cost is not None else told.problem or f"it is {told.tier}",
        )

    def method(self, method: model.Method, service: model.Service, module: str) -> report.MethodReport:
        request = self._message(method.params, method.param_stream, module)
        batch_max = method.batch_max or DEFAULT_BATCH
        one = request.body.cost
        streams = method.param_stream is not None or method.result_stream is not None
        cached = method.cached
        return report.MethodReport(
            name=method.name,
            full_name=f"{service.full_name}.{method.name}",
            index=method.index,
            signature=signature(method, module),
            oneway=method.oneway,
            idempotent=method.idempotent,
            ordered=method.ordered,
            deadline_ns=method.deadline_ns,
            batch_max=batch_max,
            batch_frame=None if one is None or streams else _frame(one.example * batch_max),
            cached=_cache(cached) if cached else None,
            replicated=method.replicated,
            throws=tuple(type_text(each, module) for each in method.throws),
            request=request,
            reply=None if method.oneway else self._message(method.results, method.result_stream, module),
            annotations=self._types.annotations(method.annotations, module),
        )

    def _message(self, struct: model.Struct, stream: model.Stream | None, module: str) -> report.Message:
        body = self._types.subject(struct, module)
        cost = body.cost
        frame = None
        if cost is not None:
            most = None if cost.most is None else _frame(cost.most)
            frame = report.Cost(_frame(cost.fewest), _frame(cost.example), most)
        streamed = self._stream(stream, module) if stream else None
        return report.Message(struct.tier.value, body, frame, self._checks(struct, stream), streamed)

    def _stream(self, stream: model.Stream, module: str) -> report.StreamReport:
        held = (
            self._program.declaration(stream.type.full_name) if isinstance(stream.type, model.Named) else None
        )
        tier = held.tier if isinstance(held, model.Struct | model.Union) else model.Tier.FEBIRD
        cost = self._types.cost_of_type(stream.type, stream.constraints)
        return report.StreamReport(type_text(stream.spelled, module), tier.value, cost)

    def _checks(self, struct: model.Struct, stream: model.Stream | None) -> tuple[report.Check, ...]:
        found = [each for field in struct.fields for each in constraints_of(field)]
        types = [field.type for field in struct.fields]
        if stream is not None:
            found += positions(f"{stream.name}[]", stream.type, stream.constraints)
            types.append(stream.type)
        for declaration in reached(self._program, types):
            for field in members(declaration):
                name = model.local_name(declaration)
                found += [(f"{name}.{place}", text) for place, text in constraints_of(field)]
        return tuple(report.Check(place, text) for place, text in found)


def _agent(agent: model.Agent | None, module: str) -> str | None:
    return None if agent is None else f"{agent.name}: {type_text(agent.spelled, module)}"


def _cache(cache: model.Cache) -> str:
    kept = f"{cache.entries} entries"
    if cache.max_bytes != model.DEFAULT_CACHE_BYTES:
        kept += f", {cache.max_bytes} bytes"
    if cache.ttl_ns is not None:
        kept += f", {duration_text(cache.ttl_ns)}"
    return kept + ", errors too" * cache.errors


def _frame(payload: int) -> int:
    return -(-(_HEADER + payload) // _ALIGNED) * _ALIGNED
