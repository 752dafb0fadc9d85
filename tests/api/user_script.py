"""A user's script, which `make lint` checks: every name of the library has its type.

Nothing runs it. Its last lines are wrong: the checker must refuse each for the reason it names.
"""

from typing import assert_type

import altair as alt
import polars as pl

import dumbbell

run: dumbbell.Run = dumbbell.simulate({"duration": "1s"}, results=None)
assert_type(dumbbell.simulate({"duration": "1s"}), dumbbell.Run)
taken = run.measure("goodput[1]", ["rtt", "cwnd"])
value: float | None = taken["rtt"]
frame: pl.DataFrame = taken.to_frame()
samples: pl.DataFrame = run.flows
raw: pl.DataFrame = run.tables["flows"]
chart: alt.VConcatChart = run.chart("cwnd")
spread: float = run.perturb(2)[0].as_is
seed: int = run.scenario.seed
compared = dumbbell.compare("reno", rate="10mbit", rtt="20ms")
summary: pl.DataFrame = compared.summary()
results: dumbbell.Results = dumbbell.run_study("li2007", where={"test": "fairness"})
htcp_run: dumbbell.Run | None = results.get_run("fairness", {"algorithm": "htcp"})
verdict: str = results.claims()[0].verdict.value
table: pl.DataFrame = results.table("fairness", "jain")
page: str = results.report().name
tuned: dict[str, int] = dumbbell.tune("ccpd", rate=["10mbit"], rtt="20ms").winner
regret: float = dumbbell.hunt("bbr", against=["cubic"], where={"rate": "9mbit"}).regret
advised: str | None = dumbbell.advise(rate="10mbit", rtt="20ms").advised
passed: bool = dumbbell.check("./my_cc.c").passed
scenario = dumbbell.read_measurement("iperf3.json").scenario
again: dumbbell.Run = dumbbell.simulate(scenario)
axes: pl.DataFrame = dumbbell.sweep("reno", rate="10mbit", rtt=["1ms", "2ms"]).to_frame()
version: str = dumbbell.__version__
dumbbell.series(run, 3)  # type: ignore[arg-type]
dumbbell.simulate(rate="10mbit")  # type: ignore[call-arg]
_ = run.flws  # type: ignore[attr-defined]
