"""What calls meet while servers and controllers are killed, stopped and replaced: `make bench-faults`."""
