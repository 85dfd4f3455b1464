"""F4. Checks that look at many declarations at once, on the lowered model."""
