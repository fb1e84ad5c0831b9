"""Settings come from options and the environment, are refused by name, and show no secret."""

import os
from pathlib import Path

import pytest

from gateway.setting_values import HIDDEN, DocumentsMode, LogFormat, without_password
from gateway.settings import (
    Settings,
    SettingsError,
    SettingSource,
    load_settings,
    report_settings,
    unknown_variables,
    variable_name,
)


@pytest.fixture(autouse=True)
def empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AGENT_MEMORY_")]:
        monkeypatch.delenv(name)


def test_the_memory_surface_is_off_unless_it_is_turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not load_settings().api_enabled
    monkeypatch.setenv("AGENT_MEMORY_API_ENABLED", "true")
    assert load_settings().api_enabled


def test_an_option_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_PORT", "8001")
    monkeypatch.setenv("AGENT_MEMORY_LOG_FORMAT", "JSON")
    assert (8002, LogFormat.JSON) == (load_settings(port=8002).port, load_settings().log_format)


def test_an_option_that_is_not_given_leaves_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_PORT", "8001")
    assert 8001 == load_settings(port=None).port


def test_an_empty_variable_is_an_absent_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_DATABASE_URL", "")
    assert load_settings().database_url is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("API_ENABLED", "perhaps-canary"),
        ("DATABASE_URL", "mysql://canary:canary@host/database"),
        ("DATABASE_URL", "postgresql://user:canary@host:99999/database"),
        ("DATABASE_URL", "postgresql://user:canary@host"),
        ("BIND", "canary.example"),
        ("PORT", "65536"),
        ("POOL_SIZE", "0"),
        ("POOL_WAIT_SECONDS", "-1"),
        ("LOG_LEVEL", "canary"),
        ("DOCUMENTS_MODE", "canary"),
        ("RECEIPT_RETENTION_DAYS", "29"),
        ("SWEEP_INTERVAL_SECONDS", "0"),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_variable_alone(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"AGENT_MEMORY_{name}", value)
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    assert str(refusal.value).startswith(f"AGENT_MEMORY_{name}: must ")
    assert "canary" not in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("API_ENABLED", "perhaps", "must be true or false"),
        ("PORT", "http", "must be a whole number from 0 to 65535"),
        ("POOL_SIZE", "1.5", "must be a whole number from 1 to 90"),
        ("POOL_WAIT_SECONDS", "nan", "must be a number above 0 to 60"),
        ("SWEEP_INTERVAL_SECONDS", "inf", "must be a number from 1 to 86400"),
        ("RATE_LIMIT_FAILED_AUTHENTICATIONS_PER_MINUTE", "x", "must be a whole number from 0"),
        ("LOG_FORMAT", "xml", "must be one of text, json"),
        ("BIND", "example.org", "must be an IP address or localhost"),
        (
            "DATA_DIR",
            "~nobody-of-that-name/x",
            "must not name the home directory of a user whom the system does not know",
        ),
    ],
)
def test_a_refusal_says_what_is_allowed(name: str, value: str, allowed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"AGENT_MEMORY_{name}", value)
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    assert f"AGENT_MEMORY_{name}: {allowed}" == str(refusal.value)


def test_whatever_a_setting_refuses_is_told_without_the_words_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.setenv(variable_name(name), "~nobody-of-that-name/\t://")
    with pytest.raises(SettingsError) as refusal:
        load_settings()
    lines = str(refusal.value).splitlines()
    assert len(lines) > len(Settings.model_fields) / 2
    for line in lines:
        variable, _, reason = line.partition(": ")
        assert variable in {variable_name(name) for name in Settings.model_fields}
        assert "must" in reason
        assert not [word for word in ("Input", "Value error", "valid integer", "parse", "nobody") if word in reason]


def test_a_bad_option_is_refused_by_its_own_name() -> None:
    with pytest.raises(SettingsError, match=r"^--metrics-port: must be"):
        load_settings(metrics_port=-1)


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+asyncpg"])
def test_a_database_url_is_taken_in_both_spellings(scheme: str) -> None:
    url = load_settings(database_url=f"{scheme}:///beliefs?host=/run/postgresql").database_url
    assert url is not None
    assert "postgresql+asyncpg:///beliefs?host=/run/postgresql" == url.get_secret_value()


def test_no_password_is_shown() -> None:
    url = "postgresql://user:canary@host:5432/beliefs?password=canary&ssl=require"
    settings = load_settings(database_url=url)
    shown = f"postgresql+asyncpg://user:{HIDDEN}@host:5432/beliefs?password={HIDDEN}&ssl=require"
    assert shown == settings.database_shown
    assert "canary" not in repr(settings) + str(report_settings(settings, options={}))


def test_a_url_without_a_password_is_shown_as_it_is() -> None:
    url = "postgresql+asyncpg://user@[::1]:5432/beliefs?host=/a/b"
    assert url == without_password(url)


def test_the_key_file_lies_in_the_data_directory_unless_it_is_named(tmp_path: Path) -> None:
    assert tmp_path / "key" == load_settings(data_dir=tmp_path).key_path
    assert tmp_path / "other" == load_settings(data_dir="x", key_file=tmp_path / "other").key_path


def test_every_setting_is_reported_with_meaning_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MEMORY_POOL_SIZE", "7")
    reports = {
        report.name: report
        for report in report_settings(load_settings(port=8002), options={"port": 8002, "bind": None})
    }
    assert [variable_name(name) for name in Settings.model_fields] == list(reports)
    assert all(report.meaning for report in reports.values())
    sources = {name: report.source for name, report in reports.items() if report.source is not SettingSource.DEFAULT}
    assert {
        "AGENT_MEMORY_PORT": SettingSource.OPTION,
        "AGENT_MEMORY_POOL_SIZE": SettingSource.ENVIRONMENT,
    } == sources


def test_a_variable_that_means_nothing_is_named() -> None:
    environment = {"AGENT_MEMORY_PROT": "1", "AGENT_MEMORY_PORT": "2", "PATH": "/bin"}
    assert ["AGENT_MEMORY_PROT"] == unknown_variables(environment)


def test_trusted_documents_alone_need_a_manifest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AGENT_MEMORY_DOCUMENTS_MODE", "only")
    with pytest.raises(SettingsError, match=r"^AGENT_MEMORY_DOCUMENTS_MODE: only needs a manifest"):
        load_settings()
    assert DocumentsMode.ONLY is load_settings(documents=tmp_path / "manifest.json").documents_mode
