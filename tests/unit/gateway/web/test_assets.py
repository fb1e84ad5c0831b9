"""The files of a page: read once, found by name alone, under a path that changes with any of them."""

from pathlib import Path

from gateway.web.assets import MEDIA_TYPES, Assets, read_files

FILES = {"index.html": b"<script src={{assets}}/main.js>", "main.js": b"1", "styles/list.css": b"2"}


def assets(**changed: bytes) -> Assets:
    return Assets("/page", FILES | changed)


def test_files_are_read_with_those_below_and_without_those_of_other_kinds(tmp_path: Path) -> None:
    tmp_path.joinpath("styles").mkdir()
    for name, content in {**FILES, "main.py": b"", "notes.md": b"", "styles/list.css~": b"", "plain": b""}.items():
        tmp_path.joinpath(name).write_bytes(content)
    assert FILES == read_files(tmp_path)


def test_the_page_names_the_path_of_its_files_and_is_none_of_them() -> None:
    page = assets()
    assert f"<script src={page.path}/main.js>".encode() == page.page.content
    assert f"/page/{page.release}" == page.path
    assert page.find(page.release, "index.html") is None


def test_a_file_is_found_by_its_whole_name_and_its_release() -> None:
    page = assets()
    found = page.find(page.release, "styles/list.css")
    assert found is not None
    assert (b"2", MEDIA_TYPES[".css"]) == (found.content, found.media_type)
    for name in ("list.css", "/styles/list.css", "styles/../styles/list.css", "styles", "styles/", "", ".", "MAIN.JS"):
        assert page.find(page.release, name) is None
    assert page.find("0" * 16, "main.js") is None


def test_the_release_changes_with_any_content_and_any_name() -> None:
    releases = {
        each.release
        for each in (
            assets(),
            assets(**{"main.js": b"3"}),
            assets(**{"index.html": b"3"}),
            assets(**{"more.js": b""}),
            Assets("/page", {"index.html": FILES["index.html"], "main.css": b"1", "styles/list.css": b"2"}),
        )
    }
    assert 5 == len(releases)
    assert assets().release == Assets("/other", dict(reversed(FILES.items()))).release
