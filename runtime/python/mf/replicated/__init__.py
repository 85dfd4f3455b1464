"""R6. Replicated messages (docs/replicated.md; docs/protocol.md, section 5d).

Three pure machines, into which messages go and out of which effects come: a client's calls (caller), a
replica (replica), and what the replica does besides that gives out the versions (versioner). They know no
socket, no clock and no thread: the driver (over links) and the simulation of the tests run the same ones.
"""
