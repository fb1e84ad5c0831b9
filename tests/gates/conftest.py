"""What a gate is given: the gateways and clients of the parity suite."""

from tests.parity.conftest import gateway as gateway  # noqa: PLC0414 - a fixture is found by its name here
from tests.parity.conftest import transport as transport  # noqa: PLC0414 - a fixture is found by its name here
