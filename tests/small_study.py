"""A study that runs in a second, for tests of all behind the engine."""

from __future__ import annotations

from pathlib import Path

from dumbbell.engines.engine import SimulatorEngine
from dumbbell.execution.executor import execute
from dumbbell.plan.expanding import scenarios
from dumbbell.plan.grid import Selection
from dumbbell.results.plans import Plan, remember
from dumbbell.store.store import Store
from dumbbell.study.model import Study

STUDY = """
[study]
name = "small"
title = "A small study of <b>two</b> algorithms"
authors = ["A. One", "B. Two"]
year = 2024
venue = "Journal of Tests"

[scenario]
duration = "12s"
record = { interval = "100ms", events = ["congestion"], algorithm_state = true }

[[test]]
name = "fairness"
title = "Fairness"
runs = 2
axes = { algorithm = ["reno", "highspeed"], rate = ["5mbit", "10mbit"], rtt = ["20ms", "40ms"] }
[test.scenario]
network = { rate = "{rate}", rtt = "{rtt}", queue = "0.5bdp", edge_jitter = "1ms" }
flow = [
  { algorithm = "{algorithm}", label = "flow 1" },
  { algorithm = "{algorithm}", label = "flow 2", start = { from = "1s", to = "2s" } },
]
[test.quick]
runs = 1
where = { rtt = "20ms" }
set = { duration = "6s" }

[[test]]
name = "lossy"
title = "Loss"
axes = { algorithm = ["reno", "highspeed"], rtt = ["20ms"] }
[test.scenario]
network = { rate = "5mbit", rtt = "{rtt}", queue = "1bdp" }
flow = [{ algorithm = "{algorithm}" }]
"""

FIGURES = """
[[figure]]
name = "fig1"
title = "Fig. 1. Ratio of throughputs"
caption = "Two flows."
section = "fairness"
kind = "points"
test = "fairness"
x = { field = "rtt_ms", title = "RTT (ms)", low = 0 }
y = { field = "ratio_min_max", title = "ratio", low = 0, high = 1 }
facet = "rate"
reference = 1
[[figure.overlay]]
theory = "shorten_leith_ratio"
label = "equation 4"
where = { algorithm = "reno" }

[[figure]]
name = "fig2"
title = "Fig. 2. Loss overhead"
section = "fairness"
kind = "points"
test = "fairness"
where = { rate = "10mbit" }
x = { field = "rtt_ms", title = "RTT (ms)", scale = "log" }
y = { field = "retransmitted_share@late", title = "loss overhead", scale = "log" }

[[figure]]
name = "fig3"
title = "Fig. 3. Histories"
section = "fairness"
kind = "histories"
quantities = [
  "cwnd_segs",
  "goodput_mbit_per_s",
  { quantity = "state:alpha", title = "α (segments per RTT)" },
]
[[figure.panel]]
title = "20 ms"
test = "fairness"
where = { algorithm = "highspeed", rate = "10mbit", rtt = "20ms" }
[[figure.panel]]
title = "40 ms"
test = "fairness"
where = { algorithm = "highspeed", rate = "10mbit", rtt = "40ms" }
"""

CLAIMS = """
[[claim]]
id = "A01"
source = "Figs. 1 and 2"
text = "The link is used by at least half."
expectation = "utilisation of at least 0.25"
check = [{ type = "band", test = "fairness", quantity = "utilisation", low = 0.25 }]

[[claim]]
id = "A02"
source = "Section 9"
text = "The link is used twice over."
expectation = "utilisation of at least 2"
reason = "A link cannot be used <twice> over (A01, test `fairness`, not A09 or `nowhere`)."
check = [{ type = "band", test = "fairness", quantity = "utilisation", low = 2 }]

[[claim]]
id = "A03"
source = "Section 9"
text = "Nobody has run this."
quirk = "RNG"
expectation = "utilisation of at least 0.1"
check = [{ type = "band", test = "lossy", quantity = "utilisation", low = 0.1 }]
"""

FILES = {"study.toml": STUDY, "figures.toml": FIGURES, "claims.toml": CLAIMS}


def write(folder: Path) -> Study:
    """Write the study's files and load them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return Study.load(folder)


def run(study: Study, root: Path, *, quick: bool = False, where: Selection | None = None) -> Store:
    """Run the study's test of fairness, or a part of it."""
    store = Store(root)
    planned = study.runs(quick=quick, where={"test": "fairness", **(where or {})})
    outcome = execute(scenarios(planned), store, SimulatorEngine(), jobs=2)
    assert not outcome.failed
    remember(store, study.name, Plan(quick=quick))
    return store
