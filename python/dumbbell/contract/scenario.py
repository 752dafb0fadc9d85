"""A resolved scenario: what an engine runs.

Generated from the types of Rust by `make docs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from dumbbell.contract.part import Part


class Scenario(Part, frozen=True, kw_only=True):
    """One run, in full."""

    seed: int
    """Seed of everything random within the run."""

    duration_ns: int
    """Length of the run."""

    links: tuple[LinkConfig, ...]
    """The network's links."""

    flows: tuple[Flow, ...]
    """The flows."""

    record: RecordConfig
    """Recordings of the run."""

    sources: Mapping[str, str] = {}
    """Sources of the algorithms that are not built in, by name. They are text here: an engine is
    given the compiled algorithms."""


class LinkConfig(Part, frozen=True, kw_only=True):
    """A link, in base units."""

    name: str
    """Name for people."""

    rate: RateConfig | None = None
    """Transmission rate; None if serialisation takes no time."""

    delay: tuple[tuple[int, int], ...]
    """One-way propagation delay by time; packets keep their order when it falls."""

    route: tuple[tuple[int, int], ...] | None = None
    """The route that packets take, by time. Packets of one route keep their order and may overtake
    those of another. None if all take the same."""

    variation: VariationConfig | None = None
    """Delay that varies from packet to packet, in addition to `delay`."""

    holds: int | None = None
    """Largest number of packets in its queue and under its delays; None is unlimited."""

    overhead_bytes: int
    """Bytes on the wire beyond those of the IP packet."""

    queue: QueueConfig
    """The queue in front of the transmitter."""

    policer: PolicerConfig | None = None
    """A token bucket that drops what exceeds it, before all else."""

    loss: tuple[LossConfig, ...]
    """Random and scripted losses before the queue, tried in order."""

    duplicate: float
    """Probability that a packet, lost or not, joins the queue a second time."""

    reorder: ReorderConfig | None = None
    """Packets that reach the far end late and so are overtaken."""

    jitter_ns: int
    """Longest random delay before the queue, order kept (a busy host)."""

    exit_jitter_ns: int = 0
    """Longest random delay behind the transmitter, order kept."""

    batch_ns: int
    """Packets reach the far end at multiples of this time only; 0: at any time."""

    sampled: bool
    """True if its counters are sampled."""

    interface: bool = False
    """True if it is the interface of a host, whose TCP knows the waiting packets of each flow."""

    memory: MemoryConfig | None = None
    """Memory that its queues share with those of other links; None if they have separate memory."""


class RateConfig(Part, frozen=True, kw_only=True):
    """The rate of a link."""

    constant: int | None = None
    """Bits per second."""

    steps: tuple[tuple[int, int], ...] | None = None
    """Bits per second and the times from which they hold; 0 is an outage."""

    trace: TraceConfig | None = None
    """Opportunities to send, as mahimahi's traces list them."""

    token_bucket: TokenBucketConfig | None = None
    """A token bucket that delays."""

    packets: int | None = None
    """Packets per second, whatever their sizes."""


class TraceConfig(Part, frozen=True, kw_only=True):
    """Opportunities to send, repeated for ever."""

    times_ns: tuple[int, ...]
    """Times within a period; a time that appears twice is two opportunities."""

    period_ns: int
    """Period after which they repeat."""

    bytes: int
    """Bytes on the wire that each carries."""


class TokenBucketConfig(Part, frozen=True, kw_only=True):
    """A token bucket that delays."""

    rate_bps: int
    """Rate at which tokens fill, in bits per second."""

    burst_bytes: int
    """Depth of the bucket in bytes on the wire; a larger packet waits until it is full."""

    peak_bps: int | None = None
    """Rate of a burst; None sends it at once."""


class VariationConfig(Part, frozen=True, kw_only=True):
    """Delays by a distribution, part of a link's delay."""

    mean_ns: int
    """Delay of a packet that draws the number zero."""

    deviation_ns: int
    """Additional delay for each unit of the number. The total is never negative."""

    distribution: Distribution | Literal["uniform", "normal", "pareto", "pareto-normal"]
    """Distribution of the numbers."""

    overtaken: bool
    """Late packets are overtaken. Otherwise packets keep their order, and wait before the queue
    unless that is scheduled."""


class Distribution(Part, frozen=True, kw_only=True):
    """A distribution of numbers.

    The built-in ones are those of the tables of iproute2. The text "uniform" in its place: uniform
    from -1 to 1. The text "normal" in its place: standard normal, of which nothing is below -4. The
    text "pareto" in its place: pareto with the exponent 3, less 1.5 and times 4/3, at most 4. The
    text "pareto-normal" in its place: a quarter of the normal number of a rank and three quarters
    of the Pareto one.
    """

    table: tuple[int, ...] | None = None
    """Numbers in parts of 8192, each as likely as the others."""


class QueueConfig(Part, frozen=True, kw_only=True):
    """A queue: its limit and its discipline."""

    limit: Limit | None = None
    """Limit of the queue; None is unlimited."""

    discipline: Discipline
    """Order of service, drops and marks."""


class Limit(Part, frozen=True, kw_only=True):
    """A number of packets or bytes: the limit of a queue, or a threshold in it."""

    packets: int | None = None
    """Number of packets."""

    bytes: int | None = None
    """Number of bytes, with the link's overhead."""


class Fifo(Part, frozen=True, kw_only=True, tag_field="kind", tag="fifo"):
    """First in, first out; drops packets without space."""


class Step(Part, frozen=True, kw_only=True, tag_field="kind", tag="step"):
    """FIFO that marks at a backlog (RFC 8257, section 3.1)."""

    threshold: Limit
    """Backlog on arrival, the packet being sent included, from which it marks."""


class Red(Part, frozen=True, kw_only=True, tag_field="kind", tag="red"):
    """Random early detection."""

    min_packets: float
    """Average queue in packets from which packets are dropped or marked (`min_th`)."""

    max_packets: float
    """Average queue in packets at which that happens with `max_probability` (`max_th`)."""

    max_probability: float
    """Probability at `max_packets` (`max_p`); adaptive RED begins with it."""

    weight: float
    """Weight of one arrival in the average (`w_q`)."""

    gentle: bool
    """True if the probability rises to 1 at twice `max_packets` rather than at once."""

    adaptive: bool
    """True if `max_probability` adapts."""

    ecn: bool
    """True if ECN-capable packets are marked instead."""


class Pie(Part, frozen=True, kw_only=True, tag_field="kind", tag="pie"):
    """Proportional integral controller enhanced."""

    target_ns: int
    """Queueing delay to hold (`QDELAY_REF`)."""

    update_ns: int
    """Time between updates of the drop probability (`T_UPDATE`)."""

    alpha: float
    """Gain of the distance from the target, per second of delay."""

    beta: float
    """Gain of the delay's change, per second of delay."""

    burst_ns: int
    """Duration for which a burst passes untouched (`MAX_BURST`)."""

    ecn: bool
    """True if ECN-capable packets are marked instead while the probability is low."""


class Codel(Part, frozen=True, kw_only=True, tag_field="kind", tag="codel"):
    """Controlled delay."""

    target_ns: int
    """Largest standing sojourn time."""

    interval_ns: int
    """Time for which the sojourn time must stay above the target."""

    ecn: bool
    """True if ECN-capable packets are marked instead of dropped."""


class FqCodel(Part, frozen=True, kw_only=True, tag_field="kind", tag="fq-codel"):
    """Flow queues with `CoDel`."""

    target_ns: int
    """Largest standing sojourn time."""

    interval_ns: int
    """Time for which the sojourn time must stay above the target."""

    ecn: bool
    """True if ECN-capable packets are marked instead of dropped."""

    queues: int
    """Queues onto which flows are hashed."""

    quantum_bytes: int
    """Bytes that a queue may send in its turn."""


class Fq(Part, frozen=True, kw_only=True, tag_field="kind", tag="fq"):
    """Flow queues."""

    quantum_bytes: int
    """Bytes that a flow may send in its turn."""

    initial_quantum_bytes: int
    """Bytes that a flow may send in its first turn."""

    flow_limit_packets: int
    """Packets of one flow that may wait."""


class FqPie(Part, frozen=True, kw_only=True, tag_field="kind", tag="fq-pie"):
    """Flow queues with PIE."""

    target_ns: int
    """Queueing delay to hold in each queue."""

    update_ns: int
    """Time between updates of the drop probabilities."""

    alpha: float
    """Gain of the distance from the target, per second of delay."""

    beta: float
    """Gain of the delay's change, per second of delay."""

    ecn: bool
    """True if ECN-capable packets are marked instead while the probability is low."""

    ecn_probability: float
    """Probability up to which they are marked."""

    queues: int
    """Queues onto which flows are hashed."""

    quantum_bytes: int
    """Bytes that a queue may send in its turn."""


class Dualpi2(Part, frozen=True, kw_only=True, tag_field="kind", tag="dualpi2"):
    """A queue with little delay next to a classic one, their signals coupled."""

    target_ns: int
    """Queueing delay to hold in the C queue."""

    update_ns: int
    """Time between updates of the probability."""

    alpha: float
    """Gain of the distance from the target, per second of delay."""

    beta: float
    """Gain of the delay's change, per second of delay."""

    step_ns: int
    """Wait in the L queue from which all its packets are marked."""

    step_min: int
    """Packets that must remain in the L queue for such a mark."""

    coupling: int
    """Factor of the probability in the L queue (k)."""

    classic_protection: float
    """Share of the link that the C queue keeps under a load of the L queue."""

    drop_overload: bool
    """True if the L queue also drops once its probability has reached 1."""

    drop_early: bool
    """True if packets are dropped as they come rather than as they leave."""


class Cake(Part, frozen=True, kw_only=True, tag_field="kind", tag="cake"):
    """Flow queues of hosts with `CoDel` and BLUE."""

    interval_ns: int
    """Time for which the sojourn time must stay above the target, which is a twentieth of it."""

    quantum_bytes: int
    """Bytes that a queue may send in its turn if its hosts have no other queue."""

    isolation: Isolation
    """Hosts or flows that get equal shares."""

    hosts: tuple[tuple[int, ...], ...]
    """The sending and the receiving host of each flow; if empty, each flow has two separate
    hosts."""

    ack_filter: AckFilter
    """ACKs that the queue removes."""

    shaper: ShaperConfig | None = None
    """Shaper for a slower link further on; None shapes nothing."""


class Classes(Part, frozen=True, kw_only=True, tag_field="kind", tag="classes"):
    """Classes of packets."""

    by: ClassOf
    """Property that decides the class of a packet."""

    serve: Serve
    """Order in which the classes are served."""

    threshold: Limit | None = None
    """Backlog of a class from which its ECN-capable packets are marked; None marks none."""


Discipline = Fifo | Step | Red | Pie | Codel | FqCodel | Fq | FqPie | Dualpi2 | Cake | Classes
"""A queue discipline and its parameters."""


Isolation = Literal[
    "nothing",  # Nobody: all packets are in one queue (`flowblind`).
    "source",  # Sending hosts (`srchost`).
    "destination",  # Receiving hosts (`dsthost`).
    "hosts",  # Pairs of hosts.
    "flows",  # Flows.
    "dual-source",  # Sending hosts, and the flows of each (`dual-srchost`).
    "dual-destination",  # Receiving hosts, and the flows of each (`dual-dsthost`).
    "triple",  # Sending and receiving hosts, and the flows of each (`triple-isolate`).
]
"""Hosts or flows that get equal shares (tc-cake(8))."""


AckFilter = Literal[
    "off",  # None of them.
    "conservative",  # All but the last two.
    "aggressive",  # All but the last one.
]
"""ACKs that a queue removes when later ones of the same flow arrive."""


class ShaperConfig(Part, frozen=True, kw_only=True):
    """A shaper's rate, and the bytes of a packet that count."""

    rate_bps: int
    """Bits per second."""

    overhead_bytes: int | None = None
    """Bytes of a packet beyond those of IP; None if as many as on the link."""

    mpu_bytes: int
    """Smallest size of a packet; smaller ones count as so large."""

    framing: Framing
    """Framing of the slower link."""


Framing = Literal[
    "none",  # No framing.
    "atm",  # Whole cells of 53 bytes that carry 48 each (ATM).
    "ptm",  # One more byte for each 64 (PTM, 64b/65b).
]
"""Framing of bytes on a link."""


class ClassOf(Part, frozen=True, kw_only=True):
    """Property that decides the class of a packet."""

    ecn: EcnClasses | None = None
    """Its ECN field."""

    flows: tuple[int, ...] | None = None
    """Its flow: the class of each flow, data and acknowledgements."""


class EcnClasses(Part, frozen=True, kw_only=True):
    """The classes by the ECN field."""

    capable: int
    """Class of ECN-capable packets."""

    other: int
    """Class of other packets."""


class Serve(Part, frozen=True, kw_only=True):
    """Order in which the classes are served."""

    round_robin: Turns | None = None
    """The classes take turns."""

    priority: Precedence | None = None
    """The first class that has a packet."""


class Turns(Part, frozen=True, kw_only=True):
    """Turns of classes."""

    quantum_bytes: int
    """Bytes that a class of weight 1 may send in its turn."""

    weights: tuple[int, ...]
    """The weight of each class."""


class Precedence(Part, frozen=True, kw_only=True):
    """Precedence of classes."""

    classes: int
    """Number of classes."""


class PolicerConfig(Part, frozen=True, kw_only=True):
    """A policer as a scenario states it."""

    rate_bps: int
    """Rate at which tokens fill, in bits per second."""

    burst_bytes: int
    """Depth of the bucket in bytes on the wire; larger packets never pass."""


class Bernoulli(Part, frozen=True, kw_only=True, tag_field="kind", tag="bernoulli"):
    """Each packet is lost with the probability of the moment."""

    probability: tuple[tuple[int, float], ...]
    """Probabilities and the times from which they hold."""


class GilbertElliott(Part, frozen=True, kw_only=True, tag_field="kind", tag="gilbert-elliott"):
    """Two states with a loss probability each (Elliott 1963).

    If the good state loses nothing, it is the model of Gilbert (1960).
    """

    to_bad: float
    """Probability of a change from good to bad after a packet."""

    to_good: float
    """Probability of a change from bad to good after a packet."""

    loss_good: float
    """Probability of a loss in the good state."""

    loss_bad: float
    """Probability of a loss in the bad state."""


class Bursts(Part, frozen=True, kw_only=True, tag_field="kind", tag="bursts"):
    """The same two states, which last for exponential times whether packets come or not."""

    mean_good_ns: int
    """Mean time in the good state, in ns."""

    mean_bad_ns: int
    """Mean time in the bad state, in ns."""

    loss_good: float
    """Probability of a loss in the good state."""

    loss_bad: float
    """Probability of a loss in the bad state."""


class BitErrors(Part, frozen=True, kw_only=True, tag_field="kind", tag="bit-errors"):
    """A packet is lost if one of its bits is wrong."""

    probability: float
    """Probability of each bit."""


class Scripted(Part, frozen=True, kw_only=True, tag_field="kind", tag="scripted"):
    """Named packets are lost."""

    drops: tuple[ScriptedDrop, ...]
    """The packets, and the number of drops of each."""


LossConfig = Bernoulli | GilbertElliott | Bursts | BitErrors | Scripted
"""A loss model as a scenario states it."""


class ScriptedDrop(Part, frozen=True, kw_only=True):
    """A data packet that the script drops."""

    flow: int
    """Index of the flow."""

    number: int
    """Number of the segment."""

    times: int
    """Number of its first passages that fail."""


class ReorderConfig(Part, frozen=True, kw_only=True):
    """Reordering as a scenario states it: some packets are late and others overtake them."""

    probability: float
    """Probability that a packet is late."""

    delay_ns: int
    """Extra delay of a late packet."""


class MemoryConfig(Part, frozen=True, kw_only=True):
    """The memory that a link's queues draw on."""

    switch: int
    """Number of the switch; links of the same one share its memory."""

    bytes: int
    """Size of the memory in bytes on the wire."""

    alpha: float
    """Largest ratio of a queue to the free memory."""


class Flow(Part, frozen=True, kw_only=True):
    """One flow between two hosts."""

    label: str
    """Name for people."""

    group: str | None = None
    """Name of a group of flows over which quantities are taken together; none: of no group."""

    start_ns: int
    """When it begins."""

    stop_ns: int | None = None
    """When it stops sending new data; none: never."""

    packet_bytes: int
    """Size of a full packet at the IP layer."""

    header_bytes: int
    """Bytes of it that are headers."""

    forward: Route
    """Route of its data."""

    reverse: Route
    """Route of the receiver's answers."""

    sampled: bool
    """True if it has rows in the table of flows."""

    transport: Transport
    """Transport of its data."""


class Route(Part, frozen=True, kw_only=True):
    """A route through the network."""

    hops: tuple[Hop, ...]
    """The links in their order, at least one."""

    delay_ns: int
    """Delay after the last of them."""


class Hop(Part, frozen=True, kw_only=True):
    """A link that a route passes and the propagation delay before it."""

    link: int
    """The link."""

    delay_ns: int
    """Delay between the host or link before and this one."""


class Transport(Part, frozen=True, kw_only=True):
    """Transport of a flow's data."""

    tcp: Tcp | None = None
    """A TCP connection."""

    udp: Udp | None = None
    """Datagrams that nobody answers."""


class Tcp(Part, frozen=True, kw_only=True):
    """A TCP connection."""

    algorithm: str
    """Congestion-control algorithm."""

    preset: str | None = None
    """Preset of its parameters; none: the defaults."""

    parameters: Mapping[str, int]
    """Parameters that differ from the preset."""

    stack: StackChoice
    """The stack of both its hosts."""

    demand: Demand | Literal["endless"]
    """Data that it has to send."""

    tcp_bpf: TcpBpf | None = None
    """Settings by a program while it is set up; none: nothing."""

    reading: Reading | None = None
    """Lag of its receiving application; none: it reads at once."""


class StackChoice(Part, frozen=True, kw_only=True):
    """A profile's name and overrides of single switches, as the scenario gives them."""

    profile: str
    """Name of the profile."""

    switches: Mapping[str, Any] = {}
    """Switches with other values than the profile's."""


class Demand(Part, frozen=True, kw_only=True):
    """Data that an application has to send over a connection.

    The text "endless" in its place: never without data.
    """

    transfer: int | None = None
    """This many bytes of payload."""

    requests: Requests | None = None
    """Requests one after the other."""

    on_off: OnOff | None = None
    """Data in bursts."""

    app_limited: AppLimited | None = None
    """Data as the application produces it, a full segment at a time."""


class Requests(Part, frozen=True, kw_only=True):
    """Requests one after the other."""

    bytes: int
    """Payload of each."""

    pause_ns: int
    """Time, or mean time, between the reply to one and the next."""

    random: bool = False
    """Times between them are exponentially distributed."""

    period_ns: int | None = None
    """They begin at multiples of this time, counted from the start; none: after a pause."""

    query: int | None = None
    """Number of the queries that it answers with other flows, so that all wait for the last reply;
    none: it waits for its own alone."""


class OnOff(Part, frozen=True, kw_only=True):
    """Times of sending and of silence in turn, beginning with the former."""

    on_ns: int
    """Length, or mean length, of sending."""

    off_ns: int
    """Length, or mean length, of silence."""

    random: bool
    """Lengths are exponentially distributed."""


class AppLimited(Part, frozen=True, kw_only=True):
    """Data as the application produces it, a full segment at a time."""

    rate_bps: tuple[tuple[int, int], ...]
    """Bits of payload per second and the times of the run from which they hold."""


class TcpBpf(Part, frozen=True, kw_only=True):
    """The settings; None leaves the value of the kernel."""

    cwnd_clamp_segs: int | None = None
    """Largest window that growth may reach; slow start ends there."""

    initial_window_segs: int | None = None
    """The window to begin with."""

    send_buffer_bytes: int | None = None
    """Size of the sender's buffer, as given to SO_SNDBUF."""

    receive_buffer_bytes: int | None = None
    """Size of the receiver's buffer, as given to SO_RCVBUF."""

    base_rtt_us: int | None = None
    """Round-trip time of the empty path, which some algorithms use."""


class Reading(Part, frozen=True, kw_only=True):
    """Reads of an application."""

    rate_bps: int
    """Rate at which it processes the data that it has read, in bits of payload per second."""

    block_bytes: int
    """Largest payload of one read."""


class Udp(Part, frozen=True, kw_only=True):
    """Datagrams at a rate."""

    rate_bps: int
    """Rate while sending, at the IP layer; the highest of those that change."""

    changes_bps: tuple[tuple[int, int], ...] | None = None
    """Bits per second and the times of the run from which they hold; none: `rate_bps`
    throughout."""

    on_off: OnOff | None = None
    """Bursts; none: without a pause."""


class RecordConfig(Part, frozen=True, kw_only=True):
    """Recordings besides the summary."""

    interval_ns: int | None = None
    """Time between samples in ns; none: no samples."""

    delays_ns: int | None = None
    """Length in ns of the periods for each of which the queueing delays of packets are counted;
    none: they are not."""

    events: tuple[EventKind, ...]
    """Kinds of events to keep."""

    algorithm_state: bool
    """Sample the algorithms' internal values too."""

    modes: bool = False
    """Keep each change of the algorithms' modes."""

    capture: bool
    """Capture what the hosts send and get, as files for Wireshark."""


EventKind = Literal[
    "start",  # The flow began to send.
    "stop",  # The flow had to stop.
    "done",  # Its last byte was acknowledged.
    "congestion",  # Its window is being reduced after an inferred loss.
    "timeout",  # Its retransmission timer expired.
    "recovered",  # It is back in the open state.
    "drop",  # A full queue dropped one of its packets.
    "loss",  # One of its packets was lost at random.
    "retransmit",  # It sent a segment again.
    "undone",  # Its reduction proved spurious and was undone.
]
"""Events of a flow."""
