"""R5. The way to a server: finding it, connecting, binding, and coming back."""
