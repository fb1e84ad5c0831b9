"""What a client accepts, by the weights that its header gives to media types."""

from collections.abc import Collection, Mapping

from starlette.requests import Request


def accepted_weights(request: Request, media_types: Collection[str]) -> Mapping[str, float]:
    """The weights of those of the media types, in lower case, that the request accepts by these very names."""
    weights: dict[str, float] = {}
    for accepted in ",".join(request.headers.getlist("accept")).lower().split(","):
        media_type, *parameters = (part.strip() for part in accepted.split(";"))
        if media_type in media_types:
            weights[media_type] = _weight(parameters)
    return weights


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
