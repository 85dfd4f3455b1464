"""R0. The base of all other packages: errors, outcomes, options, the description of services, clock and
log."""
