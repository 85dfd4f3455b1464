"""R7. Where the floors are put together: what an address in a program stands for."""
