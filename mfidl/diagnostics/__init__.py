"""F1. The compiler's messages: as data (diagnostic), their catalogue (codes), and printing (render)."""

from mfidl.diagnostics.codes import CATALOGUE, Code
from mfidl.diagnostics.diagnostic import Diagnostic, Diagnostics, Fix, Note
from mfidl.diagnostics.suggest import did_you_mean

__all__ = ["CATALOGUE", "Code", "Diagnostic", "Diagnostics", "Fix", "Note", "did_you_mean"]
