"""The one error of this package."""


class WeightsError(ValueError):
    """Weights that are not available or cannot be used; the message names the cause and the cure."""
