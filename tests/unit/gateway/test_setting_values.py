"""Settings that a type alone does not judge: lists separated by commas, the URL of a Redis, room for one request."""

import os

import pytest

from gateway.graphql.cost import COST_MAX
from gateway.limit_settings import REQUEST_COST_MAX
from gateway.service.costs import MEMORY_LISTS, MEMORY_VALUES
from gateway.setting_values import Introspection
from gateway.settings import SettingsError, load_settings, report_settings
from gateway.views.memories import MemoryView


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AGENT_MEMORY_")]:
        monkeypatch.delenv(name)


def test_by_default_nobody_is_believed_and_no_page_may_read() -> None:
    settings = load_settings()
    assert ((), ()) == (settings.trusted_proxies, settings.cors_origins)
    assert settings.rate_limit_url is None
    assert Introspection.AUTHENTICATED is settings.introspection


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("trusted_proxies", "10.0.0.0/8, 192.0.2.1,, 2001:DB8::/32", ("10.0.0.0/8", "192.0.2.1", "2001:db8::/32")),
        ("trusted_proxies", " , ", ()),
        ("cors_origins", "https://a.example,http://localhost:3000", ("https://a.example", "http://localhost:3000")),
        ("cors_origins", "http://[::1]:3000", ("http://[::1]:3000",)),
    ],
)
def test_several_things_are_separated_by_commas(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, expected: tuple[str, ...]
) -> None:
    monkeypatch.setenv(f"AGENT_MEMORY_{name.upper()}", text)
    settings = load_settings()
    assert expected == getattr(settings, name)
    shown = {report.name: report.value for report in report_settings(settings, options={})}
    assert ", ".join(expected) == shown[f"AGENT_MEMORY_{name.upper()}"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("TRUSTED_PROXIES", "*"),
        ("TRUSTED_PROXIES", "canary.example"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("CORS_ORIGINS", "*"),
        ("CORS_ORIGINS", "null"),
        ("CORS_ORIGINS", "canary.example"),
        ("CORS_ORIGINS", "https://canary.example/"),
        ("CORS_ORIGINS", "https://Canary.example"),
        ("CORS_ORIGINS", "https://canary.example:443"),
        ("CORS_ORIGINS", "https://canary.example:x"),
        ("CORS_ORIGINS", "https://user:canary@example"),
        ("RATE_LIMIT_URL", "memcached://canary"),
        ("RATE_LIMIT_URL", "redis://:canary@host:x/0"),
        ("RATE_LIMIT_URL", "redis://"),
        ("RATE_LIMIT_COST_PER_MINUTE", "-1"),
        ("RATE_LIMIT_COST_PER_MINUTE", str(REQUEST_COST_MAX - 1)),
        ("RATE_LIMIT_FAILED_AUTHENTICATIONS_PER_MINUTE", "-1"),
        ("INTROSPECTION", "canary"),
    ],
)
def test_what_can_not_be_taken_is_refused_by_name_without_its_value(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(f"AGENT_MEMORY_{name}", text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).startswith(f"AGENT_MEMORY_{name}: ")
    assert "anary" not in str(caught.value)


def test_the_password_of_a_redis_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_RATE_LIMIT_URL", "rediss://user:canary@host:6379/0")
    settings = load_settings()
    shown = {report.name: report.value for report in report_settings(settings, options={})}
    assert "rediss://user:***@host:6379/0" == shown["AGENT_MEMORY_RATE_LIMIT_URL"]
    assert "canary" not in repr(settings)


@pytest.mark.parametrize("points", [0, REQUEST_COST_MAX])
def test_a_limit_is_off_or_has_room_for_the_dearest_request(monkeypatch: pytest.MonkeyPatch, points: int) -> None:
    monkeypatch.setenv("AGENT_MEMORY_RATE_LIMIT_COST_PER_MINUTE", str(points))
    assert points == load_settings().rate_limit_cost_per_minute
    assert COST_MAX == REQUEST_COST_MAX


def test_the_price_of_a_belief_counts_the_values_of_its_view() -> None:
    fields = MemoryView.model_fields.values()
    lists = [field for field in fields if str(field.annotation).startswith("tuple")]
    assert (MEMORY_LISTS, MEMORY_VALUES) == (len(lists), len(fields) - len(lists))
