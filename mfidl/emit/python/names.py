"""F6. The Python names of everything in a module, the same for the module itself and for those that import
it.

One scope per generated package (all public names meet in its `__init__`), one per class for its functions,
one per struct for its fields. What each scope reserves is what the generated text uses there.
"""

import sys
from dataclasses import dataclass

from mfidl.emit.naming import PYTHON_KEYWORDS, PYTHON_RESERVED, Scope, camel, snake
from mfidl.model import Method, Module, Service, Struct

# Builtins and imports that annotations, defaults and bodies use; a class body or module that redefined one
# would change what the lines below it mean.
BUILTINS = frozenset(
    [
        "bool",
        "bytes",
        "dict",
        "float",
        "int",
        "len",
        "list",
        "object",
        "range",
        "set",
        "sorted",
        "str",
        "tuple",
    ]
)
TYPE_HELPERS = frozenset(
    [
        "DeclaredError",
        "Duration",
        "Exception",
        "Final",
        "IntEnum",
        "Mapping",
        "OpenEnum",
        "Sequence",
        "AbstractSet",
        "Timestamp",
        "TypeAlias",
        "UUID",
        "annotations",
        "dataclass",
        "field",
    ]
)
SERVICE_HELPERS = frozenset(
    [
        "ABC",
        "BatchOptions",
        "CallOptions",
        "ClassVar",
        "Iterable",
        "ScatterTarget",
        "Servant",
        "Target",
        "TargetSource",
        "abstractmethod",
    ]
)
CODEC_HELPERS = frozenset(
    [
        "BIT",
        "BOOL",
        "Any",
        "Codec",
        "ErrorCodec",
        "MalformedError",
        "Method",
        "ServiceInfo",
        "Struct",
        "ascending",
        "exactly",
        "fits",
        "isfinite",
        "members",
        "re",
        "rules",
        "shape",
        "as_bytes",
    ]
)
_NUMBERS = [f"{sign}{bits}" for sign in "iu" for bits in (8, 16, 32, 64)] + ["f32", "f64"]
CODEC_STEMS = frozenset(
    [
        *_NUMBERS,
        *(f"{each}s" for each in _NUMBERS),
        "bools",
        "strings",
        "blobs",
        "uuids",
        "nothing",
        "unsigned",
        "signed",
        "unsigneds",
        "signeds",
        "no_parameters",
    ]
)
# Files that a package has, beside which a package of that name could not stand.
_FILES = frozenset(["_types", "_codec", "_methods", "_client", "_server"])
_TARGET_FUNCTIONS = frozenset(["at", "any", "on", "everywhere", "_over", "_target"])
_MODULE_WORDS = PYTHON_RESERVED | BUILTINS | TYPE_HELPERS | SERVICE_HELPERS | CODEC_HELPERS


@dataclass(frozen=True, slots=True)
class MethodNames:
    request: str
    result: str  # of the dataclass; only generated for several results
    params: tuple[str, ...]
    results: tuple[str, ...]
    function: str
    asynchronous: str
    batch: str
    bulk: str
    servant_function: str
    servant_batch: str
    constant: str


@dataclass(frozen=True, slots=True)
class ServiceNames:
    client: str
    scatter: str
    servant: str
    constant: str
    methods: tuple[MethodNames, ...]


@dataclass(frozen=True, slots=True)
class ModuleNames:
    """`types` and `stems` by full name; the codec of a struct is write_<stem>, read_<stem>, <STEM>_CODEC."""

    types: dict[str, str]
    stems: dict[str, str]
    constants: dict[str, str]
    services: dict[str, ServiceNames]


def package_name(module: str, prefix: str) -> str:
    """The package of a schema module: 'prefix.a.b'.

    Underscores at the end are not looked at, so that `class` and `class_` stay two packages. Without a prefix
    the first component is found from sys.path, where it would hide the runtime or the standard library.
    """
    parts = []
    for at, part in enumerate(module.split(".")):
        bare = part.rstrip("_")
        taken = bare in PYTHON_KEYWORDS or bare in _FILES or _is_dunder(part)
        if at == 0 and not prefix:
            taken = taken or bare == "mf" or bare in sys.stdlib_module_names
        parts.append(f"{part}_" if taken else part)
    return ".".join([prefix, *parts] if prefix else parts)


class _Members(Scope):
    """The names of a class body. Those that begin with two underscores mean something to Python there, unless
    three stand at their end.
    """

    def take(self, wanted: str) -> str:
        if wanted.startswith("__"):
            wanted = wanted.rstrip("_") + "_" * max(3, _underscores_behind(wanted) + 1)
        return super().take(wanted)


def _underscores_behind(name: str) -> int:
    return len(name) - len(name.rstrip("_"))


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def module_names(module: Module) -> ModuleNames:
    scope = Scope(_MODULE_WORDS)
    stems = Scope(CODEC_STEMS)
    services = {service.full_name: _service(service, scope) for service in module.services}
    return ModuleNames(
        types={each.full_name: scope.take(each.name) for each in module.declarations},
        stems={each.full_name: stems.take(snake(each.name)) for each in module.declarations}
        | {
            part.full_name: stems.take(f"{snake(service.name)}_{snake(method.name)}_{part.name}")
            for service in module.services
            for method in service.methods
            for part in (method.params, method.results)
        },
        constants={each.full_name: scope.take(each.name) for each in module.constants},
        services=services,
    )


def field_names(struct: Struct) -> tuple[str, ...]:
    """Attributes of a struct or error, or parameters and results of a method."""
    scope = _Members(PYTHON_RESERVED, BUILTINS, TYPE_HELPERS, {"self", "options"})
    if struct.is_error:
        scope = _Members(
            PYTHON_RESERVED, BUILTINS, TYPE_HELPERS, {"self", "args", "with_traceback", "add_note"}
        )
    return tuple(scope.take(each.name) for each in struct.fields)


def enum_members(names: list[str]) -> list[str]:
    """Members of an enum; `name`, `value` and int's functions are taken by the base class, and so is
    whatever has one underscore at both ends.
    """
    scope = _Members(PYTHON_RESERVED, dir(int), {"mro", "name", "value", "is_known"})
    return [scope.take(f"{each}_" if _is_sunder(each) else each) for each in names]


def _is_sunder(name: str) -> bool:
    return name.startswith("_") and _underscores_behind(name) == 1


def _service(service: Service, scope: Scope) -> ServiceNames:
    client = scope.take(f"{service.name}Client")
    scatter = scope.take(f"{service.name}Scatter")
    servant = scope.take(f"{service.name}Servant")
    words = PYTHON_RESERVED | BUILTINS | SERVICE_HELPERS
    calls = _Members(words, _TARGET_FUNCTIONS)
    serving = _Members(words, {"mf_service"})
    added = [
        (
            calls.take(f"{method.name}_async"),
            calls.take(f"{method.name}_batch"),
            calls.take(f"{method.name}_bulk"),
            serving.take(f"{method.name}_batch"),
        )
        for method in service.methods
    ]
    constants = Scope()
    methods = []
    for method, (asynchronous, batch, bulk, servant_batch) in zip(service.methods, added, strict=True):
        methods.append(
            MethodNames(
                request=scope.take(f"{service.name}{camel(method.name)}Request"),
                result=scope.take(f"{service.name}{camel(method.name)}Result") if _has_class(method) else "",
                params=field_names(method.params),
                results=field_names(method.results),
                function=calls.take(method.name),
                asynchronous=asynchronous,
                batch=batch,
                bulk=bulk,
                servant_function=serving.take(method.name),
                servant_batch=servant_batch,
                constant=constants.take(f"{snake(service.name)}_{snake(method.name)}".upper()),
            )
        )
    return ServiceNames(client, scatter, servant, f"{snake(service.name)}_service".upper(), tuple(methods))


def _has_class(method: Method) -> bool:
    return bool(method.results.fields) and not method.single_result
