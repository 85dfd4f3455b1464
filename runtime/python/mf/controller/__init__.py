"""R7. The parts of clients and servers that talk to a controller: looking up services, and registering."""
