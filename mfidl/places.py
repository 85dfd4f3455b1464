"""F0. Where the compiler's own files are, and the name of the manifest below each output root. In a checkout
`templates/` is at the top; a wheel carries it inside of the package. It uses `os.path` only: the cache asks
before anything heavier is imported.
"""

from os import path

PACKAGE = path.dirname(path.abspath(__file__))
_INSIDE = path.join(PACKAGE, "templates")
TEMPLATES = _INSIDE if path.isdir(_INSIDE) else path.join(path.dirname(PACKAGE), "templates")
MANIFEST = ".mfidl-manifest.json"  # mfidl/emit/write.py
