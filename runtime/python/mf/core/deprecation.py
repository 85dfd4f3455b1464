"""R0. What the schema says is `@deprecated`, marked so that tools find its uses.

Type checkers see the decorator of PEP 702 (they know `typing_extensions` without its being installed). A
call of a marked function warns, as `warnings.deprecated` does from Python 3.13 on. A marked class does not:
codecs make values of it, for which nobody can be blamed; it carries `__deprecated__`.
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
