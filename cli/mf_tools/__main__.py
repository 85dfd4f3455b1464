"""`python -m mf_tools`."""

from mf_tools import main

main()
