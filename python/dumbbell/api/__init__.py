"""The library: what notebooks and scripts use, and what `import dumbbell` gives.

Rates are in Mbit/s and times in seconds, where a name does not say otherwise.
"""

from dumbbell.api.bbr import BbrCases, bbr_cases
from dumbbell.api.checking import Checks, check
from dumbbell.api.checklists import Checklist, checklist
from dumbbell.api.comparing import compare, sweep
from dumbbell.api.comparison import Comparison
from dumbbell.api.competing import Contest, compete
from dumbbell.api.hunting import Hunt, hunt
from dumbbell.api.importing import Measurement, read_measurement
from dumbbell.api.measuring import latencies, list_quantities, series, take
from dumbbell.api.results import Results
from dumbbell.api.running import open_run, perturb, simulate
from dumbbell.api.runs import Run
from dumbbell.api.scoring import Score, score
from dumbbell.api.searching import Advice, Tuning, advise, tune
from dumbbell.api.spreads import Spreads
from dumbbell.api.studying import claims, open_results, report, run_study
from dumbbell.api.sweeps import Sweep
from dumbbell.api.validating import Validation, validate
from dumbbell.api.verdicts import Claims
from dumbbell.base.errors import InputError
from dumbbell.scenario.model import Scenario
from dumbbell.store.store import Store
from dumbbell.study.model import Study

__all__ = [
    "Advice",
    "BbrCases",
    "Checklist",
    "Checks",
    "Claims",
    "Comparison",
    "Contest",
    "Hunt",
    "InputError",
    "Measurement",
    "Results",
    "Run",
    "Scenario",
    "Score",
    "Spreads",
    "Store",
    "Study",
    "Sweep",
    "Tuning",
    "Validation",
    "advise",
    "bbr_cases",
    "check",
    "checklist",
    "claims",
    "compare",
    "compete",
    "hunt",
    "latencies",
    "list_quantities",
    "open_results",
    "open_run",
    "perturb",
    "read_measurement",
    "report",
    "run_study",
    "score",
    "series",
    "simulate",
    "sweep",
    "take",
    "tune",
    "validate",
]
