"""R0. Marks what the schema calls `@deprecated`, so that tools find its uses.

Type checkers see the decorator of PEP 702 (they know `typing_extensions` even if it is not installed). A call
of a marked function warns, as `warnings.deprecated` does from Python 3.13 on. A marked class does not, since
codecs make values of it without the user's doing; it has `__deprecated__`.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import deprecated
else:

    def deprecated(message):
        def mark(marked):
            marked.__deprecated__ = message
            return marked if isinstance(marked, type) else _warning(marked, message)

        return mark

    def _warning(function, message):
        from functools import wraps
        from warnings import warn

        @wraps(function)
        def call(*arguments, **named):
            warn(message, DeprecationWarning, stacklevel=2)
            return function(*arguments, **named)

        return call


__all__ = ["deprecated"]
