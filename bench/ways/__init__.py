"""The ways over which calls go: transports, sizes, connections, threads."""
