"""R1. A generated method, from the shapes of its parameters and results: what binds mf.core's description to
the codecs.
"""

from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any

from mf.codec import shape as s
from mf.codec.calls import Parts, Value
from mf.codec.codec import Codec
from mf.core.plain_struct import by_place
from mf.core.service import DEFAULT_BATCH_MAX, FEBIRD, MEMCPY, CacheInfo, ElementCodec, ErrorCodec, Method


def method(
    name: str,
    index: int,
    request: Callable[..., Any],
    *,
    params: Callable[[], tuple[s.Field, ...]] = tuple,
    results: Callable[[], tuple[s.Field, ...]] = tuple,
    result: Callable[..., Any] | None = None,
    attribute: str = "",
    batch_attribute: str = "",
    request_encoding: int = FEBIRD,
    result_encoding: int = FEBIRD,
    errors: tuple[Codec[Any, Any], ...] = (),
    idempotent: bool = False,
    oneway: bool = False,
    ordered: bool = False,
    constrained: bool = False,
    deadline: float | None = None,
    batch_max: int = DEFAULT_BATCH_MAX,
    cached: CacheInfo | None = None,
    replicated: str | None = None,
    param_element: Callable[[], s.Shape] | None = None,
    param_element_encoding: int = FEBIRD,
    result_element: Callable[[], s.Shape] | None = None,
    result_element_encoding: int = FEBIRD,
) -> Method[Any, Any]:
    """`name` is the full one; `request` the class of a request, and `result` that of several results. The
    elements are those of the method's streams.

    `attribute` and `batch_attribute` are given where a servant's functions have other names than the schema
    says.
    """
    short = name.rpartition(".")[2]
    given = _params(name, request, params, request_encoding == MEMCPY)
    returned = _results(name, result, results, result_encoding == MEMCPY)
    made: Method[Any, Any] = Method(
        name=short,
        index=index,
        attribute=attribute or short,
        batch_attribute=batch_attribute or f"{short}_items",
        request=by_place(request),
        request_encoding=request_encoding,
        result_encoding=result_encoding,
        encode_request=given.encode_parts,
        encode_requests=given.encode_all,
        decode_request=given.decode,
        decode_requests=given.decode_all,
        encode_result=returned.encode,
        encode_results=returned.encode_all,
        decode_result=returned.decode,
        decode_results=returned.decode_all,
        decode_results_at=returned.decode_at,
        errors=tuple(_error(each) for each in errors),
        idempotent=idempotent,
        oneway=oneway,
        ordered=ordered,
        constrained=constrained,
        deadline=deadline,
        batch_max=batch_max,
        cached=cached,
        replicated=replicated,
        param_element=_element(f"{name}, parameter stream", param_element, param_element_encoding),
        result_element=_element(f"{name}, result stream", result_element, result_element_encoding),
    )
    made.arrayed = cache(lambda: _arrayed(made, given.arrays(), returned.arrays()))
    return made


def _arrayed(of: Method[Any, Any], given: Codec[Any, Any], returned: Codec[Any, Any]) -> Method[Any, Any]:
    made = copy(of)
    made.arrayed = None
    made.decode_request, made.decode_requests = given.decode, given.decode_all
    made.decode_result, made.decode_results = returned.decode, returned.decode_all
    made.decode_results_at = returned.decode_at
    for name in ("param_element", "result_element"):
        element: ElementCodec[Any] | None = getattr(of, name)
        if element is not None and element.arrayed is not None:
            setattr(made, name, element.arrayed())
    return made


def _params(
    name: str, request: Callable[..., Any], fields: Callable[[], tuple[s.Field, ...]], memcpy: bool
) -> Parts[Any, tuple[Any, ...]]:
    shape = s.Struct(f"{name}.params", s.parts_made, fields, memcpy=memcpy, implicit=True)
    return Parts(shape, request, where=name)


def _results(
    name: str,
    result: Callable[..., Any] | None,
    fields: Callable[[], tuple[s.Field, ...]],
    memcpy: bool,
) -> Codec[Any, Any]:
    name, where = f"{name}.results", f"{name}, result"
    if result is not None:
        return Codec(s.Struct(name, result, fields, memcpy=memcpy, implicit=True), where=where)
    if fields is tuple:
        nothing = s.Struct(name, s.nothing_made, fields, memcpy=memcpy, implicit=True, parts=s.nothing_parts)
        return Codec(nothing, where=where)
    return Value(_bare(name, fields, memcpy), where=where)


def _bare(name: str, fields: Callable[[], tuple[s.Field, ...]], memcpy: bool) -> s.Struct:
    return s.Struct(name, s.bare_made, fields, memcpy=memcpy, implicit=True, parts=s.bare_parts)


def _element(where: str, element: Callable[[], s.Shape] | None, encoding: int) -> ElementCodec[Any] | None:
    """A value of a stream is written like the only field of a struct of its tier."""
    if element is None:
        return None
    make_shape = element
    shape = _bare(where, lambda: (s.Field("value", make_shape()),), encoding == MEMCPY)
    codec: Codec[Any, Any] = Codec(shape, where=where)
    made: ElementCodec[Any] = _element_codec(codec, encoding)
    made.arrayed = lambda: _element_codec(codec.arrays(), encoding)
    return made


def _element_codec(codec: Codec[Any, Any], encoding: int) -> ElementCodec[Any]:
    return ElementCodec(
        encoding=encoding,
        encode=codec.encode,
        encode_all=codec.encode_all,
        decode_all=codec.decode_all,
        plain=codec.plain,
    )


def _error(codec: Codec[Any, Any]) -> ErrorCodec:
    assert isinstance(codec.shape, s.Struct)
    return ErrorCodec(codec.shape.type, encode=codec.encode, decode=codec.decode)
