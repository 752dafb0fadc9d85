"""Reading JSON of the contract.

Msgspec works a type out when it first meets it, and crashes if a second thread reads with that type
meanwhile. So decoders are made when modules are imported, here and where else there are any.
"""

from __future__ import annotations

from typing import Final

from msgspec.json import Decoder

from dumbbell.contract.scenario import Scenario
from dumbbell.contract.summary import Summary

read_scenario: Final = Decoder(Scenario).decode
read_summary: Final = Decoder(Summary).decode
