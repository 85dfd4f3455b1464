"""F6. What is wrong with a descriptor that did not come from this process."""


class DescriptorError(Exception):
    """One sentence, without a full stop, that says what is wrong."""
