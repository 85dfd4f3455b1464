"""F6. Where in a value a walk is: `Hit.positions[3]`."""


class Path:
    """Steps are pushed and popped; the text is made only when it is asked for."""

    __slots__ = ("_root", "steps")

    def __init__(self, root: str) -> None:
        self._root = root
        self.steps: list[str | int] = []

    def __str__(self) -> str:
        pieces = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps]
        return f"{self._root}{''.join(pieces)}".removeprefix(".")
