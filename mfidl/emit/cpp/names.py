"""F6. Every name that generated C++ has, allocated scope by scope (docs/generated-code.md has the rule).

The names of a module depend only on that module, so that all importing modules find the same. Members of a
struct, class or parameter list must not have the name of a type in their module: in C++ that would change the
meaning of the type's name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from mfidl.emit.cpp.reserved import everywhere, legal, macros, outermost
from mfidl.emit.naming import CPP_RESERVED, Scope, by_depth, camel, flat_names
from mfidl.model import (
    Agent,
    Const,
    CppType,
    Declaration,
    Enum,
    Field,
    Flags,
    Method,
    Module,
    Program,
    Service,
    Struct,
    Tier,
    Topic,
    Union,
)
from mfidl.model.declaration import EnumMember, FlagsMember

_IN_NAMESPACE = frozenset({"from_name", "graph_tables", "has", "methods", "name", "print_to", "to_string"})
# A type may not be called as a variable or a member beside which generated code names it.
_BESIDE_TYPES = frozenset(
    {"Kind", "clone", "client", "each", "handler", "incoming", "kMembers", "kName", "kind", "left", "options"}
    | {
        "order",
        "other",
        "outcomes",
        "printer",
        "raise",
        "request",
        "requests",
        "responder",
        "right",
        "servant",
    }
    | {"target", "target_", "text", "token", "value", "value_", "visit", "visitor", "what", "which"}
)
_IN_ERROR = frozenset({"kName", "what", "clone", "raise"})
_IN_UNION = frozenset({"Kind", "kind", "visit", "value_"})
_IN_CLASS = frozenset(
    {
        "at",
        "any",
        "on",
        "everywhere",
        "service",
        "dispatch",
        "authorizes",
        "interfaces",
        "apply_replicated",
        "target_",
        "methods",
    }
)
_IN_PARAMETERS = frozenset({"options", "token", "Token", "servant", "violated", "target_", "methods"})
_BESIDE_STREAMS = frozenset({"request", "responder"})  # parameters of a handler, with those of streams


@dataclass(frozen=True, slots=True)
class AlternativeNames:
    """`accessor` is the alternative's own name, `kind` its name in the enum of kinds."""

    accessor: str
    kind: str
    make: str
    test: str
    set: str
    emplace: str


@dataclass(frozen=True, slots=True)
class UnionNames:
    alternatives: tuple[AlternativeNames, ...]


@dataclass(frozen=True, slots=True)
class MethodNames:
    """`description` is in namespace methods; `result` is None where the result has no struct of its own.
    `batch` and `bulk` are functions of a client, `items` is one of a servant; methods with streams have none
    of them, nor have replicated ones. `handler` is the function of a servant. `forget` and `cache` are
    functions of a client for cached methods alone. `reader` and `writer` are the parameters of a handler for
    its streams. Of a method of the service that this one extends, the structs and the functions of servants
    are those of that service; `request` and `result` are `::qualified` if that has another namespace.
    """

    function: str
    handler: str
    asynchronous: str
    batch: str
    bulk: str
    forget: str
    cache: str
    items: str
    description: str
    request: str
    result: str | None
    params: tuple[str, ...]
    results: tuple[str, ...]
    reader: str
    writer: str


@dataclass(frozen=True, slots=True)
class ServiceNames:
    """`info`, `descriptor`, `annex`, `method_list`, `method_base` and the function `dispatch` lie in
    namespace methods; `agent` and `agents` are parameters of at() and on().
    """

    client: str
    scatter: str
    servant: str
    async_servant: str
    info: str
    descriptor: str
    annex: str
    method_list: str
    method_base: str
    dispatch: str
    agent: str
    agents: str
    methods: tuple[MethodNames, ...]


@dataclass(frozen=True, slots=True)
class TopicNames:
    """`info`, `descriptor` and `annex` are constants of the topics' source file."""

    description: str
    publisher: str
    subscriber: str
    info: str
    descriptor: str
    annex: str


def has_result_struct(method: Method) -> bool:
    return not method.single_result and bool(method.results.fields)


class ModuleNames:
    """All names of one module. `inherited`: of the methods of services that those of the module extend.

    A type within another declaration is a class of the namespace, `Outer_Inner`, and the class `Outer` has
    another word for it, `Inner`, which yields to whatever generated code says there (decision 0058).
    """

    def __init__(self, module: Module, inherited: "Inherited") -> None:
        self.module = module.name
        self.namespace = _namespace(module.name)
        self._names: dict[str, str] = {}
        self._members: dict[str, tuple[str, ...]] = {}
        self._unknown_fields: dict[str, str] = {}
        self._unions: dict[str, UnionNames] = {}
        self._services: dict[str, ServiceNames] = {}
        self._topics: dict[str, TopicNames] = {}
        outer = Scope(everywhere(), _IN_NAMESPACE)
        for constant in module.constants:
            self._names[constant.full_name] = _take(outer, constant)
        flat = flat_names(module, _asked)
        for declaration in by_depth(module):
            wanted = legal(flat[declaration.full_name])
            self._names[declaration.full_name] = _take(
                outer, declaration, f"{wanted}_" if wanted in _BESIDE_TYPES else wanted
            )
        classes = {each.full_name: _class_names(each, outer) for each in module.services}
        structs = {
            method.full_name: (
                outer.take(f"{_asked(service)}{camel(_asked(method))}Request"),
                outer.take(f"{_asked(service)}{camel(_asked(method))}Result")
                if has_result_struct(method)
                else None,
            )
            for service in module.services
            for method in service.own_methods
        }
        for topic in module.topics:
            self._topics[topic.full_name] = _topic_names(topic, outer)
        added = [name for names in classes.values() for name in names]
        added += [name for topic in self._topics.values() for name in _classes_of(topic)]
        added += [name for pair in structs.values() for name in pair if name is not None]
        declared = {self._names[each.full_name] for each in module.declarations}
        self._inner = self._name_inner(module, classes, added)
        self._hidden = {name for names in self._inner.values() for name, _ in names}
        for declaration in module.declarations:
            self._name_members(declaration, declared.union(self._words_in(declaration.full_name)))
        types = declared.union(added)
        described = Scope(everywhere())
        for service in module.services:
            own, above = classes[service.full_name], inherited.of(service, self.namespace)
            inside = types.union(self._words_in(service.full_name))
            names = _service_names(service, own, structs, above, inside, described)
            self._services[service.full_name] = names
            inherited.keep(service, names, self.namespace)

    def of(self, full_name: str) -> str:
        return self._names[full_name]

    def all(self) -> Iterable[str]:
        """The full names of its types and constants."""
        return self._names

    def is_hidden(self, name: str) -> bool:
        """Whether a class of the module has another meaning for the name, so that it is written in full."""
        return name in self._hidden

    def inner(self, full_name: str) -> tuple[tuple[str, Declaration], ...]:
        """What a struct, union or service calls the types that it declares."""
        return self._inner.get(full_name, ())

    def _words_in(self, full_name: str) -> set[str]:
        return {name for name, _ in self.inner(full_name)}

    def _name_inner(
        self, module: Module, classes: Mapping[str, tuple[str, ...]], added: Iterable[str]
    ) -> dict[str, tuple[tuple[str, Declaration], ...]]:
        made: dict[str, list[tuple[str, Declaration]]] = {}
        scopes: dict[str, Scope] = {}
        around = {each.full_name: _BESIDE_TYPES | _IN_UNION for each in module.unions}
        around |= {each.full_name: _IN_ERROR for each in module.errors}
        around |= {each.full_name: _BESIDE_TYPES | _IN_CLASS | _IN_PARAMETERS for each in module.services}
        for each in module.declarations:
            if each.within:
                holder = f"{module.name}.{each.within}"
                if holder not in scopes:
                    own = classes.get(holder) or (self._names.get(holder, ""),)
                    scopes[holder] = Scope(everywhere(), own, added, around.get(holder, ()))
                made.setdefault(holder, []).append((_take(scopes[holder], each), each))
        return {holder: tuple(names) for holder, names in made.items()}

    def members(self, declaration: Struct | Enum | Flags) -> tuple[str, ...]:
        """Of the fields of a struct or the members of an enum or of flags, in order."""
        return self._members[declaration.full_name]

    def unknown_fields(self, struct: Struct) -> str:
        """Where a struct of tier archive keeps what its reader did not know; "" of other structs."""
        return self._unknown_fields.get(struct.full_name, "")

    def union(self, union: Union) -> UnionNames:
        return self._unions[union.full_name]

    def service(self, service: Service) -> ServiceNames:
        return self._services[service.full_name]

    def topic(self, topic: Topic) -> TopicNames:
        return self._topics[topic.full_name]

    def _name_members(self, declaration: object, types: Iterable[str]) -> None:
        match declaration:
            case Struct(cpp_type=CppType()):
                self._members[declaration.full_name] = tuple(map(_existing, declaration.fields))
            case Struct():
                scope = Scope(everywhere(), types, _IN_ERROR if declaration.is_error else ())
                self._members[declaration.full_name] = _taken(scope, declaration.fields)
                if declaration.tier is Tier.ARCHIVE:
                    self._unknown_fields[declaration.full_name] = scope.take("unknown_fields")
            case Enum() | Flags():
                scope = Scope(everywhere())
                self._members[declaration.full_name] = tuple(
                    _take(scope, each) for each in declaration.members
                )
            case Union():
                self._unions[declaration.full_name] = _union_names(declaration, types)


class Inherited:
    """The names of the methods of services so far, for those that extend them: extended ones come first."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Mapping[str, MethodNames], str]] = {}

    def keep(self, service: Service, names: ServiceNames, namespace: str) -> None:
        methods = zip(service.methods, names.methods, strict=True)
        self._known[service.full_name] = ({each.full_name: named for each, named in methods}, namespace)

    def of(self, service: Service, namespace: str) -> Mapping[str, MethodNames]:
        """By the full names of the methods that a service inherits, as seen from a namespace."""
        if service.extends is None:
            return {}
        methods, home = self._known[service.extends]
        if home == namespace:
            return methods
        return {name: _qualified(each, home) for name, each in methods.items()}


def _qualified(names: MethodNames, home: str) -> MethodNames:
    return replace(
        names,
        request=_in_namespace(names.request, home),
        result=None if names.result is None else _in_namespace(names.result, home),
    )


def _in_namespace(name: str, home: str) -> str:
    return name if name.startswith("::") else f"::{home}::{name}"


class Names:
    """The names of a whole program, by full name."""

    def __init__(self, program: Program) -> None:
        inherited = Inherited()
        self._modules = {module.name: ModuleNames(module, inherited) for module in program.modules}
        self._owners = {name: each for each in self._modules.values() for name in each.all()}

    def module(self, name: str) -> ModuleNames:
        return self._modules[name]

    def owner(self, full_name: str) -> ModuleNames:
        """The names of the module that declares a type or constant."""
        return self._owners[full_name]

    def of(self, full_name: str) -> str:
        return self._owners[full_name].of(full_name)


def _namespace(module: str) -> str:
    first, *rest = module.split(".")
    # `mf` itself may be the outermost namespace (our own modules); inside another it would hide the runtime.
    head = first if first == "mf" else Scope(outermost()).take(legal(first.lstrip("_") or "x"))
    return "::".join([head, *(Scope(everywhere(), {"methods"}).take(legal(part)) for part in rest)])


def _fields(fields: Iterable[Field], *reserved: Iterable[str]) -> tuple[str, ...]:
    return _taken(Scope(everywhere(), *reserved), fields)


def _taken(scope: Scope, fields: Iterable[Field]) -> tuple[str, ...]:
    return tuple(_take(scope, field) for field in fields)


def _union_names(union: Union, types: Iterable[str]) -> UnionNames:
    inside = Scope(everywhere(), types, _IN_UNION)
    kinds = Scope(everywhere())
    accessors = _taken(inside, union.alternatives)
    added = [
        tuple(inside.take(f"{prefix}_{_asked(each)}") for prefix in ("of", "is", "set", "emplace"))
        for each in union.alternatives
    ]
    return UnionNames(
        tuple(
            AlternativeNames(accessor, _take(kinds, each), *functions)
            for each, accessor, functions in zip(union.alternatives, accessors, added, strict=True)
        )
    )


_Named = Agent | Const | Declaration | EnumMember | Field | FlagsMember | Method | Service | Topic


def _asked(named: _Named) -> str:
    """The name that the schema prescribes for C++, or its own."""
    return legal(dict(named.target_names).get("cpp", named.name))


def _take(scope: Scope, named: _Named, wanted: str | None = None) -> str:
    """The name of a member, by default the one that it asks for. A prescribed name may be that of a macro,
    since the user then decides that the macro is not defined where the code is used.
    """
    prescribed = "cpp" in dict(named.target_names)
    return scope.take(wanted or _asked(named), even=macros() if prescribed else ())


def _existing(field: Field) -> str:
    """A member of a type that is there already: called as the schema says, whatever else is called so."""
    name = dict(field.target_names).get("cpp", field.name)
    return f"{name}_" if name in CPP_RESERVED else name


def _class_names(service: Service, scope: Scope) -> tuple[str, str, str, str]:
    name = _asked(service)
    return (
        scope.take(f"{name}Client"),
        scope.take(f"{name}Scatter"),
        scope.take(f"{name}Servant"),
        scope.take(f"{name}AsyncServant"),
    )


def _topic_names(topic: Topic, scope: Scope) -> TopicNames:
    name = _asked(topic)
    return TopicNames(
        description=scope.take(f"{name}Topic"),
        publisher=scope.take(f"{name}Publisher"),
        subscriber=scope.take(f"{name}Subscriber"),
        info=scope.take(f"k{name}Service"),
        descriptor=scope.take(f"k{name}Descriptor"),
        annex=scope.take(f"k{name}Annex"),
    )


def _classes_of(topic: TopicNames) -> tuple[str, ...]:
    return (topic.description, topic.publisher, topic.subscriber)


def _service_names(
    service: Service,
    classes: tuple[str, str, str, str],
    structs: dict[str, tuple[str, str | None]],
    inherited: Mapping[str, MethodNames],
    types: set[str],
    described: Scope,
) -> ServiceNames:
    client, scatter, servant, async_servant = classes
    own = _asked(service)
    info = described.take(f"k{own}Service")
    descriptor = described.take(f"k{own}Descriptor")
    annex = described.take(f"k{own}Annex")
    method_list = described.take(f"k{own}Methods")
    method_base = described.take(f"{own}Method")
    dispatch = described.take(f"dispatch{camel(own)}")
    # A user's method keeps its name in the schema, whatever the generator calls helpers of other methods.
    inside = Scope(everywhere(), types, _IN_CLASS, {each.items for each in inherited.values()})
    functions = [_take(inside, each) for each in service.methods]
    methods = []
    for method, function in zip(service.methods, functions, strict=True):
        asked, above = _asked(method), inherited.get(method.full_name)
        request, result = (above.request, above.result) if above else structs[method.full_name]
        parameters = Scope(everywhere(), types, _IN_PARAMETERS)
        params = _taken(parameters, method.params.fields)
        beside = Scope(parameters, _BESIDE_STREAMS)
        many = not method.streams and method.replicated is None
        if above:
            handler, items = above.handler, above.items
        else:
            handler = inside.take(f"on_apply_{asked}") if method.replicated else function
            items = inside.take(f"{asked}_items") if many else ""
        methods.append(
            MethodNames(
                function=function,
                handler=handler,
                asynchronous=inside.take(f"async_{asked}"),
                batch=inside.take(f"{asked}_batch") if many else "",
                bulk=inside.take(f"{asked}_bulk") if many else "",
                forget=inside.take(f"{asked}_forget") if method.cached else "",
                cache=inside.take(f"{asked}_cache") if method.cached else "",
                items=items,
                description=described.take(f"{own}{camel(asked)}"),
                request=request,
                result=result,
                params=above.params if above else params,
                results=above.results if above else _fields(method.results.fields, types),
                reader=beside.take(legal(method.param_stream.name)) if method.param_stream else "",
                writer=beside.take("out") if method.result_stream else "",
            )
        )
    agent = _asked(service.agent) if service.agent else "agent"
    at_parameters = Scope(everywhere(), types, _IN_PARAMETERS)
    return ServiceNames(
        client=client,
        scatter=scatter,
        servant=servant,
        async_servant=async_servant,
        info=info,
        descriptor=descriptor,
        annex=annex,
        method_list=method_list,
        method_base=method_base,
        dispatch=dispatch,
        agent=at_parameters.take(agent),
        agents=at_parameters.take(f"{agent}s"),
        methods=tuple(methods),
    )
