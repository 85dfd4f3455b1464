"""MF/IDL's compiler. Kept empty of imports on purpose: `mfidlc --version` must not pay for the parser."""

__version__ = "0.1.0"
