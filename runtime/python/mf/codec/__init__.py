"""R1. Values to bytes and back: the helpers that generated codecs are made of, usable without any networking.

`codec.py` says how a generated codec is shaped. This package knows nothing of frames, sockets or services.
"""
