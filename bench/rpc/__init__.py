"""Calls: C++ client and server, each a process, over the loopback."""
