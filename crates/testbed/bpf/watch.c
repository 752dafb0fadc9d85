// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * watch.c - measurements of a run's sockets, with any congestion control; and TCP-BPF:
 * settings that a program makes during the handshake (Brakmo 2017).
 *
 * Sockets of other namespaces are ignored. The first program checks the namespace before
 * anything else, and the second knows only sockets that the first has seen.
 */
#include "flow.h"

/*
 * The kernel as this file needs it: a few fields, found by name when it is loaded, and
 * the numbers of its interface to BPF.
 */

#define SEC(name) __attribute__((section(name), used))
#define BY_NAME __attribute__((preserve_access_index))
#define NUMBER(field, value) int(*field)[value]
#define TYPE(field, type) typeof(type) *field

enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_SK_STORAGE = 24, MAP_RINGBUF = 27 };
enum { NO_PREALLOC = 1, STORAGE_CREATE = 1 };

enum sock_ops {
	OPS_CONNECT = 3,
	OPS_ESTABLISHED = 4,
	OPS_ACCEPTED = 5,
	OPS_BASE_RTT = 7,
	OPS_TIMEOUT = 8,
	OPS_LISTEN = 11,
};
enum { CALL_AT_TIMEOUT = 1 };

enum { LEVEL_SOCKET = 1, LEVEL_TCP = 6 };
enum { OPTION_SNDBUF = 7, OPTION_RCVBUF = 8 };
enum { OPTION_NODELAY = 1, OPTION_IW = 1001, OPTION_CWND_CLAMP = 1002 };

struct bpf_sock;
struct sock;

/* A part of the kernel's interface, so its offsets are fixed. */
struct bpf_sock_ops {
	u32 op;
	union {
		u32 args[4];
		u32 reply;
	};
	u32 addresses[12];
	u32 local_port;
	u32 is_fullsock;
	u32 snd_cwnd;
	u32 srtt_us;
	u32 callbacks;
	u32 counters[20];
	u64 volumes[2];
	struct bpf_sock *sk;
};
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, local_port) == 68, "misplaced");
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, callbacks) == 84, "misplaced");
_Static_assert(__builtin_offsetof(struct bpf_sock_ops, sk) == 184, "misplaced");

struct inet_connection_sock {
	u8 icsk_retransmits;
} BY_NAME;

struct tcp_rack {
	u32 rtt_us;
	u32 end_seq;
} BY_NAME;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_una;
	u32 snd_cwnd;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prior_ssthresh;
	u32 undo_marker;
	u32 high_seq;
	u32 retrans_out;
	u32 total_retrans;
	u32 delivered;
	struct tcp_rack rack;
} BY_NAME;

static void *(*const map_lookup)(void *map, const void *key) = (void *)1;
static u64 (*const monotonic_ns)(void) = (void *)5;
static int (*const set_option)(struct bpf_sock_ops *, int level, int option, void *value,
			       int bytes) = (void *)49;
static int (*const set_callbacks)(struct bpf_sock_ops *, int flags) = (void *)59;
static void *(*const storage_get)(void *map, void *sk, void *initial,
				  u64 flags) = (void *)107;
static u64 (*const namespace_cookie)(void *ctx) = (void *)122;
static long (*const ring_output)(void *ring, void *data, u64 bytes,
				 u64 flags) = (void *)130;
static struct tcp_sock *(*const tcp_sock_of)(void *sk) = (void *)137;

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * Maps.
 */

/* The settings of TCP-BPF; 0: none. Mirrored in src/watch/steering.rs. */
struct steering {
	u32 cwnd_clamp_segs;
	u32 initial_window_segs;
	u32 send_buffer_bytes;
	u32 receive_buffer_bytes;
	u32 base_rtt_us;
};

/* Mirrored in src/watch/event.rs. */
enum event_kind { CONGESTION, TIMEOUT, RECOVERED, UNDONE };

struct event {
	u64 monotonic_ns;
	u32 port;
	u32 kind;
	u32 cwnd_segs;
	u32 ssthresh_segs;
};

struct {
	NUMBER(type, MAP_SK_STORAGE);
	NUMBER(map_flags, NO_PREALLOC);
	TYPE(key, int);
	TYPE(value, struct cc_flow);
} flows SEC(".maps");

/* Cookies of the run's namespaces. */
struct {
	NUMBER(type, MAP_HASH);
	NUMBER(max_entries, 1024);
	TYPE(key, u64);
	TYPE(value, u8);
} namespaces SEC(".maps");

/* Settings by port. */
struct {
	NUMBER(type, MAP_HASH);
	NUMBER(map_flags, NO_PREALLOC);
	NUMBER(max_entries, 65536);
	TYPE(key, u32);
	TYPE(value, struct steering);
} steerings SEC(".maps");

struct {
	NUMBER(type, MAP_RINGBUF);
	NUMBER(max_entries, 1 << 20);
} events SEC(".maps");

struct {
	NUMBER(type, MAP_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, u32);
	TYPE(value, u64);
} lost_events SEC(".maps");

/*
 * Events.
 */

static void tell(const struct cc_flow *flow, u32 kind, u32 cwnd_segs, u32 ssthresh_segs)
{
	struct event event = {
		.monotonic_ns = monotonic_ns(),
		.port = flow->port,
		.kind = kind,
		.cwnd_segs = cwnd_segs,
		.ssthresh_segs = ssthresh_segs,
	};
	u32 only = 0;
	u64 *lost;

	if (!flow->connected)
		return;
	if (ring_output(&events, &event, sizeof(event), 0) == 0)
		return;
	lost = map_lookup(&lost_events, &only);
	if (lost)
		__sync_fetch_and_add(lost, 1);
}

/*
 * An undo clears the marker of the reduction and keeps the threshold to which it
 * returned. All other code that clears the marker also clears that threshold.
 */
static void note_undo(struct cc_flow *flow, const struct tcp_sock *tcp)
{
	if (!flow->may_undo || tcp->undo_marker)
		return;
	flow->may_undo = 0;
	if (tcp->prior_ssthresh) {
		flow->spurious++;
		tell(flow, UNDONE, tcp->snd_cwnd, tcp->snd_ssthresh);
	}
}

static void note_reduction(struct cc_flow *flow, const struct tcp_sock *tcp,
			   u32 cwnd_segs)
{
	flow->congestion_events++;
	flow->may_undo = tcp->undo_marker != 0;
	tell(flow, CONGESTION, cwnd_segs, tcp->snd_ssthresh);
}

/*
 * Return true if a timeout reduces the window. The kernel reduces it once for the
 * outstanding data. Call this before the kernel notes the timeout.
 */
static u8 reduces_anew(const struct cc_flow *flow, const struct tcp_sock *tcp)
{
	if (flow->ca_state <= CC_DISORDER)
		return 1;
	if (flow->ca_state == CC_LOSS && tcp->inet_conn.icsk_retransmits == 0)
		return 1;
	return !cc_seq_after(tcp->high_seq, tcp->snd_una);
}

/* Runs before the kernel changes the state, and at each timeout. */
SEC("tp_btf/tcp_cong_state_set")
int watch_state(u64 *arguments)
{
	struct sock *sk = (struct sock *)arguments[0];
	u8 state = arguments[1];
	struct tcp_sock *tcp = tcp_sock_of(sk);
	struct cc_flow *flow;

	if (!tcp)
		return 0;
	flow = storage_get(&flows, sk, 0, 0);
	if (!flow)
		return 0;
	note_undo(flow, tcp);
	if (state == CC_LOSS) {
		if (reduces_anew(flow, tcp))
			note_reduction(flow, tcp, tcp->prior_cwnd);
		flow->timeouts++;
		tell(flow, TIMEOUT, flow->timeout_cwnd_segs, tcp->snd_ssthresh);
	} else if (state == CC_CWR && flow->ca_state <= CC_DISORDER) {
		note_reduction(flow, tcp, tcp->snd_cwnd);
	} else if (state == CC_RECOVERY) {
		/*
		 * In CWR the window already falls, and one round trip has one reduction.
		 */
		if (flow->ca_state != CC_CWR && flow->ca_state != CC_RECOVERY)
			note_reduction(flow, tcp, tcp->snd_cwnd);
		flow->may_undo = tcp->undo_marker != 0;
	} else if (state <= CC_DISORDER && flow->ca_state >= CC_CWR) {
		tell(flow, RECOVERED, tcp->snd_cwnd, tcp->snd_ssthresh);
	}
	flow->ca_state = state;
	return 0;
}

static void note_rtt(struct cc_flow *flow, const struct tcp_sock *tcp)
{
	u32 resent_back_segs = tcp->total_retrans - tcp->retrans_out;
	/*
	 * A retransmission has arrived or is lost. Data from beyond the recovery point
	 * shows that it is lost; the round-trip time is then that of this data.
	 */
	u8 is_new = (s32)(tcp->rack.end_seq - tcp->high_seq) > 0;
	u8 is_ambiguous = resent_back_segs != flow->resent_back_segs && !is_new;
	u32 rtt_us = tcp->rack.rtt_us;

	flow->resent_back_segs = resent_back_segs;
	if (flow->delivered_segs == tcp->delivered)
		return;
	flow->delivered_segs = tcp->delivered;
	if (is_ambiguous)
		return;
	if (flow->rtt_samples == 0 || rtt_us < flow->rtt_min_us)
		flow->rtt_min_us = rtt_us;
	flow->rtt_max_us = cc_max(flow->rtt_max_us, rtt_us);
	flow->rtt_us = rtt_us;
	flow->rtt_sum_us += rtt_us;
	flow->rtt_samples++;
}

/*
 * Runs before the kernel processes a segment, when the results of the one before are
 * known. (The callback for round-trip times comes only once per round trip.)
 */
SEC("tp_btf/tcp_probe")
int watch_arrival(u64 *arguments)
{
	struct sock *sk = (struct sock *)arguments[0];
	struct cc_flow *flow = storage_get(&flows, sk, 0, 0);
	struct tcp_sock *tcp;

	if (!flow)
		return 0;
	tcp = tcp_sock_of(sk);
	if (!tcp)
		return 0;
	note_rtt(flow, tcp);
	/*
	 * Duplicates that are reported late undo a reduction without a change of state.
	 */
	note_undo(flow, tcp);
	return 0;
}

/*
 * TCP-BPF.
 */

static const struct steering *steering_of(struct bpf_sock_ops *ops)
{
	u32 port = ops->local_port;

	return map_lookup(&steerings, &port);
}

static void set(struct bpf_sock_ops *ops, int level, int option, u32 value)
{
	if (value)
		set_option(ops, level, option, &value, sizeof(value));
}

/*
 * Set buffers before the handshake, which announces the window scale. Sockets inherit
 * them from listeners.
 */
static void steer_buffers(struct bpf_sock_ops *ops)
{
	const struct steering *steering = steering_of(ops);

	if (!steering)
		return;
	set(ops, LEVEL_SOCKET, OPTION_SNDBUF, steering->send_buffer_bytes);
	/*
	 * Nagle's algorithm keeps a last segment that is not full. The kernel adds data
	 * to it even if the buffer is full, so the buffer would not be a limit.
	 */
	set(ops, LEVEL_TCP, OPTION_NODELAY, steering->send_buffer_bytes != 0);
	set(ops, LEVEL_SOCKET, OPTION_RCVBUF, steering->receive_buffer_bytes);
}

/*
 * Set windows after the kernel has set its initial window, and before congestion control
 * begins.
 */
static void steer_window(struct bpf_sock_ops *ops, const struct steering *steering)
{
	u32 clamp = steering->cwnd_clamp_segs, initial = steering->initial_window_segs;

	set(ops, LEVEL_TCP, OPTION_CWND_CLAMP, clamp);
	/* The kernel applies the clamp only to growth. */
	if (clamp && (initial ? initial : ops->snd_cwnd) > clamp)
		initial = clamp;
	set(ops, LEVEL_TCP, OPTION_IW, initial);
}

static void tell_base_rtt(struct bpf_sock_ops *ops)
{
	const struct steering *steering = steering_of(ops);

	if (steering && steering->base_rtt_us)
		ops->reply = steering->base_rtt_us;
}

/*
 * Sockets.
 */

static struct cc_flow *flow_of(struct bpf_sock_ops *ops, u64 flags)
{
	struct bpf_sock *sk = ops->sk;

	return sk ? storage_get(&flows, sk, 0, flags) : 0;
}

static void begin(struct bpf_sock_ops *ops)
{
	const struct steering *steering = steering_of(ops);
	struct bpf_sock *sk = ops->sk;
	struct tcp_sock *tcp = sk ? tcp_sock_of(sk) : 0;
	struct cc_flow *flow = flow_of(ops, STORAGE_CREATE);

	if (!flow || !tcp)
		return;
	flow->port = ops->local_port;
	flow->connected = ops->op == OPS_ESTABLISHED;
	/* The sample of the handshake does not count. */
	flow->delivered_segs = tcp->delivered;
	if (steering) {
		flow->base_rtt_us = steering->base_rtt_us;
		steer_window(ops, steering);
	}
	set_callbacks(ops, ops->callbacks | CALL_AT_TIMEOUT);
}

static void note_timeout(struct bpf_sock_ops *ops)
{
	struct cc_flow *flow = flow_of(ops, 0);

	if (flow)
		flow->timeout_cwnd_segs = ops->snd_cwnd;
}

SEC("sockops")
int watch_socket(struct bpf_sock_ops *ops)
{
	u64 cookie = namespace_cookie(ops);

	if (!map_lookup(&namespaces, &cookie))
		return 1;
	switch (ops->op) {
	case OPS_CONNECT:
	case OPS_LISTEN:
		steer_buffers(ops);
		break;
	case OPS_ESTABLISHED:
	case OPS_ACCEPTED:
		begin(ops);
		break;
	case OPS_BASE_RTT:
		tell_base_rtt(ops);
		break;
	case OPS_TIMEOUT:
		note_timeout(ops);
		break;
	}
	return 1;
}
