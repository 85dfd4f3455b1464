"""R5. What a caller gives is checked as the client of a connection would check it: by encoding it.

Large bytes are left out, as copying them would cost more than the call: unless the schema constrains them,
their type is all that there is to check.
"""

from typing import Any

from mf.core.error import Error, Execution
from mf.core.service import FEBIRD, Method

_LARGE = 4096


def _is_large(value: object) -> bool:
    return type(value) is bytes and len(value) > _LARGE


def check_arguments(method: Method[Any, Any], arguments: tuple[Any, ...]) -> None:
    """Raises Error(INVALID_ARGUMENT), NOT_EXECUTED."""
    if method.request_encoding == FEBIRD and not method.constrained:
        for argument in arguments:
            if type(argument) is bytes and len(argument) > _LARGE:
                arguments = tuple(b"" if _is_large(each) else each for each in arguments)
                break
    method.encode_request(*arguments)


def check_value(method: Method[Any, Any], value: Any) -> None:
    """Of the parameter stream. Raises Error(INVALID_ARGUMENT); the handler of the call may run."""
    element = method.param_element
    assert element is not None
    if _is_large(value) and not method.constrained:
        value = b""
    try:
        element.encode(value)
    except Error as refused:
        raise Error(refused.code, refused.message, Execution.UNKNOWN) from refused
