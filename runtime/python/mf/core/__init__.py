"""R0. What everything else stands on: errors, outcomes, options, the description of services, clock and
log."""
