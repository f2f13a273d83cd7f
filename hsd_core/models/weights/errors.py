"""The one error of this package."""


class WeightsError(ValueError):
    """Weights that cannot be had or used; the message names the cause and the cure."""
