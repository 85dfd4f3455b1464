"""F6. Errors in descriptors that come from elsewhere."""


class DescriptorError(Exception):
    """One sentence, without a full stop, that says what is wrong."""
