"""The catalogues of texts, as the browser itself reads them."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from tests.browser.visits import Visit

Catalogue: TypeAlias = Mapping[str, Any]  # Any: a text, or one for each plural form

_LOAD = """
    async (code) => {
        const script = document.querySelector('script[type=module]').src;
        return (await import(new URL(`texts/${code}.js`, script))).default;
    }
"""


async def catalogue(visit: Visit, code: str) -> Catalogue:
    """The texts of a language."""
    loaded: Catalogue = await visit.page.evaluate(_LOAD, code)
    return loaded
