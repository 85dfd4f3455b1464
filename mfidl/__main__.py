"""`python -m mfidl` is `mfidlc`."""

from mfidl.cli import main

main()
