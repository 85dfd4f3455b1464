"""The Python of `make bench-codecs`: its suite, and the libraries of Python that it measures."""
