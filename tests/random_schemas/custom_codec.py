"""The codec of the custom structs of random schemas, in Python: any bytes are a value. custom_codec.hpp is
the same in C++.
"""


class Codec:
    Value = bytes
    encode = staticmethod(bytes)
    decode = staticmethod(bytes)
