"""F6. The Python names of everything in a module, the same for the module itself and for those that import
it.

One scope per generated package (all public names meet in its `__init__`), one per class for its functions,
one per struct for its fields. What each scope reserves is what the generated text uses there.
"""

import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mfidl.emit.naming import (
    PYTHON_KEYWORDS,
    PYTHON_RESERVED,
    Scope,
    by_depth,
    camel,
    flat_names,
    snake,
)
from mfidl.model import (
    Agent,
    Alias,
    AliasOf,
    ArrayOf,
    Const,
    Enum,
    EnumMember,
    Field,
    Flags,
    FlagsMember,
    ListOf,
    MapOf,
    Method,
    Module,
    Named,
    OptionalOf,
    Primitive,
    RefOf,
    Service,
    SetOf,
    Stream,
    Struct,
    Topic,
    Type,
    Union,
    local_name,
)
from mfidl.model.target_words import PYTHON_PACKAGES


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Builtins and imports that annotations, defaults and bodies use; a class body or module that redefined one
# would change the meaning of later lines.
BUILTINS = _words("bool bytes dict float frozenset int list object range set str super tuple type")
TYPE_HELPERS = _words(
    """
    AbstractSet Any ArchiveStruct DeclaredError Duration Exception FRESH Final Flags GraphAlternative
    GraphStruct IntEnum Mapping MappingProxyType NotImplemented OpenEnum PlainStruct Sequence TYPE_CHECKING
    Timestamp TypeAlias UNSET UUID annotations bit custom_type custom_value deprecated isinstance
    recursive_repr
    """
)
SERVICE_HELPERS = _words(
    """
    ABC AsyncIterable AsyncIterator AsyncScatterTarget AsyncServant AsyncTarget AsyncTargetSource ClassVar
    Iterable Iterator ScatterTarget Self Servant Target TargetSource abstractmethod async_target_of
    classmethod mf target_of
    """
)
CODEC_HELPERS = _words("CacheInfo Codec MEMCPY Method ServiceInfo TypeCodec method rules shape")
TOPIC_HELPERS = _words(
    """
    LoneAsyncPublisher LoneAsyncSubscriber LonePublisher LoneSubscriber PerAgentAsyncPublisher
    PerAgentAsyncSubscriber PerAgentPublisher PerAgentSubscriber TopicInfo
    """
)
# Files of a package, so that no subpackage may have these names.
_FILES = frozenset(["_types", "_codec", "_methods", "_client", "_server", "_topics"])
_TARGET_FUNCTIONS = frozenset(["at", "any", "on", "everywhere", "_agent", "_over", "_target"])
# A class of such a name would be hidden by the parameters of functions that name it.
_PARAMETERS = frozenset(["self", "other"])
_MODULE_WORDS = (
    PYTHON_RESERVED | BUILTINS | TYPE_HELPERS | SERVICE_HELPERS | CODEC_HELPERS | TOPIC_HELPERS | _PARAMETERS
)


@dataclass(frozen=True, slots=True)
class MethodNames:
    """A method with streams has neither batch and bulk functions nor `servant_items`, nor has a replicated
    one: these are "". `forget` and `cache` are there of cached methods alone. Of a method of the service that
    this one extends, the structs and the functions of servants are those of that service; `module` is where
    the structs are.
    """

    request: str
    result: str  # of the dataclass; only generated for several results
    function: str
    batch: str
    bulk: str
    forget: str
    cache: str
    servant_function: str
    servant_items: str
    constant: str
    module: str


@dataclass(frozen=True, slots=True)
class ServiceNames:
    client: str
    scatter: str
    async_client: str
    async_scatter: str
    servant: str
    async_servant: str
    constant: str
    descriptor: str
    annex: str
    methods: tuple[MethodNames, ...]


@dataclass(frozen=True, slots=True)
class TopicNames:
    publisher: str
    async_publisher: str
    subscriber: str
    async_subscriber: str
    constant: str
    descriptor: str
    annex: str

    @property
    def exported(self) -> tuple[str, ...]:
        return (self.publisher, self.async_publisher, self.subscriber, self.async_subscriber, self.constant)


@dataclass(frozen=True, slots=True)
class WithinNames:
    """`words`: what types within a declaration are called there, each with its full name. They are attributes
    of a class of their own, from which those of the declaration derive: type checkers want them declared as
    aliases, and allow none in a dataclass.
    """

    name: str
    words: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """By full name; `alternatives` are the classes of a union's. The codec of a struct is <STEM>_CODEC.
    `codecs` are the users' of custom structs. `all` is what an imported name must not hide. `within`: the
    class that a struct, error or service has of its words for the types that are declared within it.
    """

    types: dict[str, str]
    alternatives: dict[str, tuple[str, ...]]
    stems: dict[str, str]
    constants: dict[str, str]
    services: dict[str, ServiceNames]
    topics: dict[str, TopicNames]
    codecs: dict[str, str]
    within: dict[str, WithinNames]
    all: Scope


def package_name(module: str, prefix: str) -> str:
    """The package of a schema module: 'prefix.a.b'.

    Underscores at the end are not looked at, so that `class` and `class_` stay two packages. Without a prefix
    the first component is found from sys.path, where it would hide the standard library; nor would Python
    find a package of which another distribution has the name (PYTHON_PACKAGES).
    """
    parts: list[str] = []
    around = ""
    for part in module.split("."):
        bare = part.rstrip("_")
        around = f"{around}.{bare}" if parts else bare
        taken = bare in PYTHON_KEYWORDS or bare in _FILES or _is_dunder(part)
        if not prefix:
            taken = taken or around in PYTHON_PACKAGES or around in sys.stdlib_module_names
        parts.append(f"{part}_" if taken else part)
    return ".".join([prefix, *parts] if prefix else parts)


class _Scope(Scope):
    """The names of a module or class. Those that begin with two underscores mean something to Python there,
    unless three stand at their end.
    """

    def take(self, wanted: str, even: Container[str] = ()) -> str:
        return super().take(_plain(wanted) if wanted.startswith("__") else wanted, even)


def _plain(name: str) -> str:
    return name.rstrip("_") + "_" * max(3, _underscores_behind(name) + 1)


def _underscores_behind(name: str) -> int:
    return len(name) - len(name.rstrip("_"))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


# The names of methods by their full names, for each service by its own full name.
Inherited = dict[str, Mapping[str, MethodNames]]


def module_names(module: Module, inherited: Inherited) -> ModuleNames:
    """First the schema's names, then the generator's, in one scope: the names of all files meet in the
    package. `inherited` holds the names of all services so far; those of this module are added.
    """
    scope = _Scope(_MODULE_WORDS)
    flat = flat_names(module, written)
    own = [each for each in module.declarations if not each.within]
    types = {each.full_name: scope.take(flat[each.full_name]) for each in own}
    constants = {each.full_name: scope.take(written(each)) for each in module.constants}
    for each in by_depth(module):
        if each.within:
            types[each.full_name] = scope.take(flat[each.full_name])
    stems = {}
    for each in by_depth(module):
        if not isinstance(each, Alias):
            stems[each.full_name] = _stem(scope, local_name(each).replace(".", "_"))
    inner = _inner(module)
    services = {}
    for service in module.services:
        above = {} if service.extends is None else inherited[service.extends]
        words = tuple(word for word, _ in inner.get(service.full_name, ()))
        names = services[service.full_name] = _service(service, above, scope, words)
        named = zip(service.methods, names.methods, strict=True)
        inherited[service.full_name] = {method.full_name: each for method, each in named}
    topics = {topic.full_name: _topic(topic, scope) for topic in module.topics}
    alternatives = {
        union.full_name: tuple(
            scope.take(f"{flat[union.full_name]}{camel(written(each))}") for each in union.alternatives
        )
        for union in module.unions
    }
    codecs = {
        each.full_name: scope.take(f"{flat[each.full_name]}Codec")
        for each in module.structs
        if each.python_codec is not None
    }
    within = {
        name: WithinNames(scope.take(f"Within{types.get(name) or name.rpartition('.')[2]}"), words)
        for name, words in inner.items()
    }
    return ModuleNames(types, alternatives, stems, constants, services, topics, codecs, within, scope)


def _inner(module: Module) -> dict[str, tuple[tuple[str, str], ...]]:
    """The words of structs, errors and services for the types that are declared within them, to which fields
    and functions yield. Unions have none: they are no classes.
    """
    holders = {each.full_name for each in module.structs}
    holders |= {each.full_name for each in module.services}
    made: dict[str, list[tuple[str, str]]] = {}
    scopes: dict[str, Scope] = {}
    for each in module.declarations:
        holder = f"{module.name}.{each.within}"
        if each.within and holder in holders:
            if holder not in scopes:
                scopes[holder] = _Scope(_OF_ERRORS, _OF_STRUCTS, _TARGET_FUNCTIONS, ["mf_service"])
            made.setdefault(holder, []).append((scopes[holder].take(written(each)), each.full_name))
    return {name: tuple(words) for name, words in made.items()}


def _stem(scope: Scope, name: str) -> str:
    """The word that both names of a codec are built from, <STEM>_SHAPE and <STEM>_CODEC."""
    stem = snake(name).lstrip("_").upper()
    if not stem[:1].isalpha():
        stem = f"N{stem}"
    while f"{stem}_SHAPE" in scope or f"{stem}_CODEC" in scope:
        stem += "_"
    scope.take(f"{stem}_SHAPE")
    scope.take(f"{stem}_CODEC")
    return stem.lower()


def written(
    each: Alias
    | Agent
    | Const
    | Enum
    | EnumMember
    | Field
    | Flags
    | FlagsMember
    | Method
    | Service
    | Struct
    | Topic
    | Union,
) -> str:
    """The name that the schema gives for Python: `@python.name`, or the one in every language."""
    return dict(each.target_names).get("python", each.name)


_IN_CLASSES = PYTHON_RESERVED | BUILTINS | TYPE_HELPERS
_OF_STRUCTS = _IN_CLASSES | {"self", "options"}
_OF_ERRORS = _IN_CLASSES | {"self", "args", "with_traceback", "add_note"}


def field_names(
    struct: Struct, type_name: Callable[[str], str], others: Iterable[str] = ()
) -> tuple[str, ...]:
    """Attributes of a struct or error, or parameters and results of a method. `type_name`: what a type is
    called in Python, by its full name. `others`: what the class calls types within it, and the classes that
    its constructor calls: a parameter of that name would hide them there.
    """
    types = _names_of_types((each.spelled for each in struct.fields), type_name)
    scope = _Scope(_OF_ERRORS if struct.is_error else _OF_STRUCTS, types, others)
    return tuple(scope.take(written(each)) for each in struct.fields)


def stream_name(stream: Stream, others: Iterable[str]) -> str:
    """The name of the parameter that is a stream, after these others."""
    return _Scope(_OF_STRUCTS, others).take(stream.name)


def _names_of_types(types: Iterable[Type], type_name: Callable[[str], str]) -> set[str]:
    """Names in annotations of the same class: a member of that name would hide the type. A type from another
    module may have one more underscore.
    """
    found: set[str] = set()
    for each in types:
        if isinstance(each, Primitive):
            continue
        for full_name in mentioned(each):
            name = type_name(full_name)
            found.add(name)
            found.add(f"{name}_")
    return found


def _last(full_name: str) -> str:
    """The name that a type most likely gets."""
    name = full_name.rpartition(".")[2]
    return _plain(name) if name.startswith("__") else name


def mentioned(type_: Type) -> Iterator[str]:
    """The full names of declared types and aliases in a type expression."""
    match type_:
        case Named():
            yield type_.full_name
        case AliasOf():
            yield type_.full_name
            yield from mentioned(type_.target)
        case ListOf() | ArrayOf() | SetOf() | OptionalOf() | RefOf():
            yield from mentioned(type_.element)
        case MapOf():
            yield from mentioned(type_.key)
            yield from mentioned(type_.value)
        case Primitive():
            return


def enum_members(members: Sequence[EnumMember | FlagsMember]) -> list[str]:
    """Members of an enum or flags; `name`, `value` and int's functions are taken by the base class, and so is
    whatever has one underscore at both ends.
    """
    scope = _Scope(PYTHON_RESERVED, _ENUM)
    names = [written(each) for each in members]
    return [scope.take(f"{each}_" if _is_sunder(each) else each) for each in names]


_ENUM = frozenset([*dir(int), "bit", "mro", "name", "names", "value", "is_known"])


def _is_sunder(name: str) -> bool:
    return name.startswith("_") and _underscores_behind(name) == 1


def _service(
    service: Service, inherited: Mapping[str, MethodNames], scope: Scope, inner: Iterable[str]
) -> ServiceNames:
    """Functions have the names of the schema; those that the generator adds yield to them. `inner`: what the
    classes call types within the service.
    """
    own = written(service)
    client, scatter, async_client, async_scatter, servant, async_servant = (
        scope.take(f"{own}{what}")
        for what in ("Client", "Scatter", "AsyncClient", "AsyncScatter", "Servant", "AsyncServant")
    )
    upper = snake(own).upper()
    constant, descriptor, annex = (
        scope.take(f"{upper}_{what}") for what in ("SERVICE", "DESCRIPTOR", "ANNEX")
    )
    words = _IN_CLASSES | SERVICE_HELPERS
    types = _names_of_types((type_ for each in service.methods for type_ in _types_of(each)), _last)
    types.update(inner)
    calls = _Scope(words, _TARGET_FUNCTIONS, types)
    above = [inherited[each.full_name] for each in service.methods if each.full_name in inherited]
    serving = _Scope(words, ["mf_service"], types, _served(above))
    functions = [calls.take(written(method)) for method in service.methods]
    served = [each.servant_function for each in above]
    served += [
        serving.take(f"on_apply_{written(method)}" if method.replicated else written(method))
        for method in service.own_methods
    ]
    methods = []
    for method, function, servant_function in zip(service.methods, functions, served, strict=True):
        name, known = written(method), inherited.get(method.full_name)
        many = not method.streams and method.replicated is None
        if known is not None:
            request, result, items = known.request, known.result, known.servant_items
        else:
            request = scope.take(f"{own}{camel(name)}Request")
            result = scope.take(f"{own}{camel(name)}Result") if _has_class(method) else ""
            items = serving.take(f"{name}_items") if many else ""
        methods.append(
            MethodNames(
                request=request,
                result=result,
                function=function,
                batch=calls.take(f"{name}_batch") if many else "",
                bulk=calls.take(f"{name}_bulk") if many else "",
                forget=calls.take(f"{name}_forget") if method.cached else "",
                cache=calls.take(f"{name}_cache") if method.cached else "",
                servant_function=servant_function,
                servant_items=items,
                constant=scope.take(f"{upper}_{snake(name)}".upper()),
                module=service.module if known is None else known.module,
            )
        )
    return ServiceNames(
        client,
        scatter,
        async_client,
        async_scatter,
        servant,
        async_servant,
        constant,
        descriptor,
        annex,
        tuple(methods),
    )


def _served(methods: Iterable[MethodNames]) -> set[str]:
    """The functions that a servant has of the service that its own extends."""
    return {name for each in methods for name in (each.servant_function, each.servant_items) if name}


def _topic(topic: Topic, scope: Scope) -> TopicNames:
    own = written(topic)
    classes = (
        scope.take(f"{own}{what}")
        for what in ("Publisher", "AsyncPublisher", "Subscriber", "AsyncSubscriber")
    )
    upper = snake(own).upper()
    texts = (scope.take(f"{upper}_{what}") for what in ("TOPIC", "TOPIC_DESCRIPTOR", "TOPIC_ANNEX"))
    return TopicNames(*classes, *texts)


def _types_of(method: Method) -> Iterator[Type]:
    yield from (each.spelled for each in (*method.params.fields, *method.results.fields))
    yield from (each.spelled for each in method.streams)


def _has_class(method: Method) -> bool:
    return bool(method.results.fields) and not method.single_result
