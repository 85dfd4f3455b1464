"""The testbed's processes in Python. They need the generated package `testbed` on their path."""
