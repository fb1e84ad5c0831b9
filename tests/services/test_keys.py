"""The key file: made once, kept, and refused where it does not belong."""

import asyncio
import stat
from pathlib import Path

import pytest

from gateway.service.keys import KeyFileError, open_keyring, read_key_file
from store.inmemory.store import InMemoryStore
from store.ports.store import Store


async def test_a_key_is_made_for_a_new_store_and_found_again(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "data" / "key"

    made = await open_keyring(store, path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert await open_keyring(store, path) == made == read_key_file(path)
    assert [entry.name for entry in path.parent.iterdir()] == ["key"]


async def test_a_store_with_a_key_refuses_to_start_without_its_file(store: Store, tmp_path: Path) -> None:
    await open_keyring(store, tmp_path / "key")

    with pytest.raises(KeyFileError, match="copy the file"):
        await open_keyring(store, tmp_path / "elsewhere")

    assert not (tmp_path / "elsewhere").exists()


async def test_a_key_of_another_store_is_refused_and_kept(store: Store, tmp_path: Path) -> None:
    await open_keyring(store, tmp_path / "key")
    other = await open_keyring(InMemoryStore(), tmp_path / "other")

    with pytest.raises(KeyFileError, match="belongs to this database"):
        await open_keyring(store, tmp_path / "other")

    assert read_key_file(tmp_path / "other") == other


async def test_a_copied_file_serves_a_second_machine(store: Store, tmp_path: Path) -> None:
    made = await open_keyring(store, tmp_path / "key")
    (tmp_path / "copy").write_bytes((tmp_path / "key").read_bytes())

    assert await open_keyring(store, tmp_path / "copy") == made


async def test_the_loser_of_a_race_deletes_its_own(store: Store, tmp_path: Path) -> None:
    paths = [tmp_path / f"machine-{number}" / "key" for number in range(4)]

    results = await asyncio.gather(*(open_keyring(store, path) for path in paths), return_exceptions=True)

    winners = [path for path, result in zip(paths, results, strict=True) if not isinstance(result, BaseException)]
    assert [path for path in paths if path.exists()] == winners
    assert len(winners) == 1
    assert all(isinstance(result, KeyFileError) for result in results if isinstance(result, BaseException))


async def test_two_processes_on_one_directory_share_the_file(store: Store, tmp_path: Path) -> None:
    first, second = await asyncio.gather(*(open_keyring(store, tmp_path / "key") for _ in range(2)))

    assert first == second


@pytest.mark.parametrize("content", [b"", b"{}", b"nonsense", b'{"version":1,"current":"a","keys":[]}'])
async def test_a_damaged_file_is_refused_without_showing_it(store: Store, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key"
    path.write_bytes(content)

    with pytest.raises(KeyFileError, match="damaged"):
        await open_keyring(store, path)

    assert path.read_bytes() == content


async def test_a_secret_that_was_changed_is_noticed(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "key"
    await open_keyring(store, path)
    secret = path.read_text().split('"secret": "')[1].split('"')[0]
    path.write_text(path.read_text().replace(secret, secret[::-1].lstrip("=") + "="))

    with pytest.raises(KeyFileError) as refusal:
        await open_keyring(store, path)

    assert secret[:8] not in str(refusal.value)
