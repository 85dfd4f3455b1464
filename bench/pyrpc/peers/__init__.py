"""Peers of bench-python: each program is `NAME.py server` and `NAME.py client PORT`."""
