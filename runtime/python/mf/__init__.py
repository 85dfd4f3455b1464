"""The MF/IDL runtime: floors R0 to R7, as docs/architecture.md draws them."""
