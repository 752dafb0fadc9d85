"""The inventory of queue disciplines: a model each, with the defaults of Linux and the RFCs."""

from typing import Final, get_args

from dumbbell.scenario.disciplines.base import Discipline
from dumbbell.scenario.disciplines.cake import Cake
from dumbbell.scenario.disciplines.classes import Classes
from dumbbell.scenario.disciplines.codel import CoDel, FqCoDel
from dumbbell.scenario.disciplines.drop_tail import Fifo, Step
from dumbbell.scenario.disciplines.dualpi2 import DualPi2
from dumbbell.scenario.disciplines.fq import Fq
from dumbbell.scenario.disciplines.fq_pie import FqPie
from dumbbell.scenario.disciplines.pie import Pie
from dumbbell.scenario.disciplines.red import Red

AnyQueue = Fifo | Step | Red | CoDel | FqCoDel | Pie | FqPie | DualPi2 | Cake | Fq | Classes

MODELS: Final[dict[str, type[Discipline]]] = {
    name: model for model in get_args(AnyQueue) for name in model.names()
}
"""The model of each discipline; a second name is a special case of the first."""
