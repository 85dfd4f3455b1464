"""The checks of `mf doctor`, in the order in which a connection is made. Each names what it found, and the cure."""
