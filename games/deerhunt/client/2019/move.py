"""A move: a unit and words."""


class Move:
    """What a unit shall do.

    Move(unit, "LEFT") walks, Move(unit, "ATTACK", "UP") attacks, and so on. `unit` is a unit or its
    id (a number, or the same number as text).
    """

    def __init__(self, unit, *directions):
        self.unit = getattr(unit, "id", unit)
        self.directions = directions

    def to_tuple(self):
        """The form in which the move is sent."""
        return self.unit, self.directions

    def __repr__(self):
        return f"Move({self.unit!r}, {', '.join(map(repr, self.directions))})"
