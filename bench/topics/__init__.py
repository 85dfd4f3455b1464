"""The experiments of `make bench-topics`."""
