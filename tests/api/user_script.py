"""A user's script, which `make lint` checks: every name of the library has its type.

Nothing runs it. Its last lines are wrong: the checker must refuse each for the reason it names.
"""

from typing import assert_type

import altair as alt
import polars as pl

import dumbbell
from dumbbell.quantities.delays import rtt_mean_ms
from dumbbell.quantities.rates import goodput_mbit_per_s, ratio
from dumbbell.quantities.registry import Best, of_flows
from dumbbell.quantities.view import FlowsView

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
htcp_run: dumbbell.Run = results.get_run("fairness", {"algorithm": "htcp"})
late = htcp_run.tables["flows"].filter(pl.col("time_ns") > 10e9)
late_rtt_ms: float = late.select(pl.col("srtt_us").mean() / 1e3).item()
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


@of_flows("power", "Mbit/s per ms", best=Best.HIGHEST)
def power_mbit_per_s_per_ms(view: FlowsView) -> float | None:
    """Goodput over mean round-trip time, as in the guide to quantities."""
    return ratio(goodput_mbit_per_s(view), rtt_mean_ms(view))


power: float | None = dumbbell.take(htcp_run, "power_mbit_per_s_per_ms[1]@late").popitem()[1]
dumbbell.series(run, 3)  # type: ignore[arg-type]
dumbbell.simulate(rate="10mbit")  # type: ignore[call-arg]
_ = run.flws  # type: ignore[attr-defined]
