"""F6. Where generated files of others may lie: below their output folder, under a name good everywhere."""

from mfidl.places import MANIFEST

_LONGEST_NAME = 255  # bytes of one component, as file systems have it
_LONGEST_PATH = 1024


def bad_path(path: str) -> str | None:
    """Why a file may not be written there, as the end of a sentence; None: it may."""
    parts = path.split("/")
    if not path:
        return "is empty"
    if path.startswith("/") or "\\" in path or ":" in path:
        return "is not a relative path with forward slashes"
    if any(part in ("", ".", "..") for part in parts):
        return "has an empty part, `.` or `..`"
    if not path.isprintable():
        return "has characters that cannot be printed"
    if len(path.encode()) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
        return "is too long"
    if parts[-1] == MANIFEST:
        return "is mfidlc's own list of generated files"
    return None


class Paths:
    """The paths of one run, so that none is taken twice, and none is a folder of another."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def clash(self, path: str) -> str | None:
        """Why a good path cannot stand beside those taken; None: it can, and is taken now."""
        parts = path.split("/")
        above = {"/".join(parts[:count]) for count in range(1, len(parts))}
        if path in self._folders:
            return "is a folder of another file"
        if above & self._files:
            return "is below another file"
        self._files.add(path)
        self._folders |= above
        return None

    def __contains__(self, path: str) -> bool:
        return path in self._files
