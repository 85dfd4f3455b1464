"""licences.py DISTRIBUTION...: prints the licences of these installed Python packages."""

import sys
from importlib.metadata import distribution

for name in sys.argv[1:]:
    found = distribution(name)
    texts = [each for each in found.files or [] if "LICENSE" in each.name.upper()]
    licence = found.metadata.get("License-Expression") or found.metadata["License"]
    print(f"{name} {found.version}: {licence}\n")
    for text in texts:
        print(text.read_text())
