"""The codec of the custom structs of random schemas, in Python: any bytes are a value. custom_codec.hpp is
the same in C++.
"""

from typing import TypeAlias


class Codec:
    Value: TypeAlias = bytes
    encode = staticmethod(bytes)
    decode = staticmethod(bytes)
