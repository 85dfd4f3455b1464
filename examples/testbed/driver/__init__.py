"""Runs the testbed's processes and judges their answers. Imports nothing that the compiler generates."""
