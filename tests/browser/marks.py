"""How a module of tests in the browser is marked.

The tests of a group share one Chromium and one program; few groups, since each worker that has one starts both.
"""

import pytest


def browser_tests(group: int) -> list[pytest.MarkDecorator]:
    """The marks of a module whose tests run in the loop that the browser lives in."""
    return [
        pytest.mark.e2e,
        pytest.mark.postgres,
        pytest.mark.asyncio(loop_scope="session"),
        pytest.mark.xdist_group(f"browser-{group}"),
    ]
