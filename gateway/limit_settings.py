"""Settings of what a caller may ask for: how much within a minute, and for how long."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings

from gateway.setting_values import redis_url

REQUEST_COST_MAX = 850_000
"""What one request may cost at most; the operations themselves are priced where they are served."""


class LimitSettings(BaseSettings):
    """How much is answered, and for how long."""

    rate_limit_cost_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=5_000_000,
        description="How many points of cost a principal may ask for within a minute; 0: any number. What "
        "one request may cost must fit.",
    )
    rate_limit_failed_authentications_per_minute: Annotated[int, Field(ge=0)] = Field(
        default=60,
        description="How many requests without a valid credential one client address may make within a minute before "
        "they are refused as rate limited; 0: any number. A valid credential is never refused by it.",
    )
    rate_limit_url: Annotated[SecretStr, AfterValidator(redis_url)] | None = Field(
        default=None,
        description="A Redis in which the rates are counted, as redis://user:password@host:6379/0, where several "
        "gateways share them; it needs the extra `redis`. Absent: in this process.",
    )
    request_deadline_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        default=20.0, description="How long a request may take; then it is unavailable, and a write undone."
    )

    @field_validator("rate_limit_cost_per_minute", mode="after")
    @classmethod
    def _leave_room_for_a_request(cls, points: int) -> int:
        """Refuse a limit that a request within the limit on its own cost could never meet."""
        if 0 < points < REQUEST_COST_MAX:
            raise ValueError(f"must be 0, or at least the {REQUEST_COST_MAX} that one request may cost")
        return points
