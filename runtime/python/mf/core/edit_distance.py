"""R0. How much two names differ, for messages that say which name may be meant."""


def edit_distance(left: str, right: str) -> int:
    """How many bytes of UTF-8 must be changed, left out or put in."""
    row = list(range(len(right.encode()) + 1))
    for one in left.encode():
        diagonal, row[0] = row[0], row[0] + 1
        for place, other in enumerate(right.encode(), 1):
            diagonal, row[place] = (
                row[place],
                min(diagonal + (one != other), row[place] + 1, row[place - 1] + 1),
            )
    return row[-1]
