"""``dumbbell advise``: which algorithm to use on a path, and which are unfit for it.

>>> from dumbbell.experiments.advise import advise
>>> from dumbbell.experiments.setting import Setting
>>> advice = advise(Setting("20mbit", "40ms"), among=["reno", "cubic", "vegas"])
>>> advice.advised, advice.refused
"""

from dumbbell.experiments.advise.asking import advise
from dumbbell.experiments.advise.candidates import Candidate, Meeting
from dumbbell.experiments.advise.choosing import Advice

__all__ = ["Advice", "Candidate", "Meeting", "advise"]
