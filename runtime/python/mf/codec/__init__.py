"""R1. Values to bytes and back: the helpers that generated codecs are made of, usable without any networking.

`codec.py` says how a generated codec is shaped. This package depends on no frames, sockets or services.
"""
