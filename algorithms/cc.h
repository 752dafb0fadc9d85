/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc.h - the one interface of every congestion-control algorithm.
 *
 * An algorithm is one C file of pure functions over three plain structs:
 *
 *   params  its parameters, constant while it runs        (struct NAME_params)
 *   state   its own memory for one connection, 104 bytes  (struct NAME_state)
 *   conn    the connection as it may see and steer it     (struct cc_conn)
 *
 * The same file is compiled natively for the simulator and with
 * `clang -target bpf` for the kernel. Therefore: integers only, no globals, no
 * allocation, no library call, bounded loops, at most four arguments. Time and
 * randomness are fields of cc_conn. The hooks, and the moments of their calls, are those
 * of Linux's tcp_congestion_ops.
 *
 * The kernel's verifier follows all paths of a hook, through at most a million
 * instructions. It must see that loops end and that indices stay within tables. cc_index
 * and CC_APART help with that.
 */
#ifndef DUMBBELL_CC_H
#define DUMBBELL_CC_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

/* Version of this interface; a file built against another one is refused. */
#define CC_ABI 4

#define CC_STATE_BYTES 104
#define CC_SSTHRESH_INFINITE 0x7fffffffu
#define CC_NO_RTT 0xffffffffu
#define CC_USEC_PER_SEC 1000000u
/* Ticks per second of the clock that Linux's jiffy-based algorithms read. */
#define CC_HZ 1000u

enum cc_ca_state { CC_OPEN, CC_DISORDER, CC_CWR, CC_RECOVERY, CC_LOSS };

enum cc_event {
	CC_EVENT_TX_START,     /* first segment sent while nothing was in flight */
	CC_EVENT_CWND_RESTART, /* window restarted after idle */
	CC_EVENT_COMPLETE_CWR, /* end of CWR or Recovery */
	CC_EVENT_LOSS,	       /* retransmission timeout */
	CC_EVENT_ECN_NO_CE,    /* receiver: segment without CE */
	CC_EVENT_ECN_IS_CE,    /* receiver: segment with CE */
};

/*
 * Kind of an ACK, for in_ack_event (Linux's CA_ACK_*). The ACK's deliveries are already
 * counted. pkts_acked comes before in_ack_event, or after it on older kernels.
 */
enum cc_ack_flag {
	CC_ACK_SLOWPATH = 1,   /* it carries SACK blocks or ECE, or advances nothing */
	CC_ACK_WIN_UPDATE = 2, /* it advances, without SACK blocks or ECE */
	/*
	 * It carries ECN-Echo, and the connection negotiated ECN. Its deliveries are
	 * already in conn->delivered_ce_segs.
	 */
	CC_ACK_ECE = 4,
};

/* Differences of the stack from today's Linux (bits of cc_conn.stack). */
enum cc_stack {
	/* Slow start while cwnd <= ssthresh (until 3.18), not cwnd < ssthresh. */
	CC_STACK_SLOW_START_INCLUSIVE = 1,
	/* Growth counts ACKs, not acknowledged segments (until 3.18). */
	CC_STACK_COUNT_ACKS = 2,
	/* The stack's own slow start (cc_start.h) replaces HyStart. */
	CC_STACK_ENDS_SLOW_START = 4,
};

/*
 * Fields that an algorithm may only read. Code that fills them in, such as the kernel's
 * adapters, defines CC_VIEW as nothing first.
 */
#ifndef CC_VIEW
#define CC_VIEW const
#endif

/* The connection. An algorithm may write the first block. */
struct cc_conn {
	u32 cwnd_segs;
	u32 cwnd_cnt; /* acknowledged segments not yet turned into growth */
	u32 ssthresh_segs;
	u32 cwnd_clamp_segs;
	u64 pacing_rate_bytes_per_s; /* 0: not paced; the stack may pace instead */
	/*
	 * Until more segments than this are delivered (modulo 2^32), rate samples of new
	 * segments count as limited by the application; 0: none do.
	 */
	u32 app_limited_segs;

	CC_VIEW u32 prior_cwnd_segs; /* cwnd before the current or last reduction */
	CC_VIEW u64 now_us;
	CC_VIEW u64 delivered_segs;    /* acknowledged or SACKed since it began */
	CC_VIEW u64 delivered_ce_segs; /* segments whose ACK carried ECN-Echo */
	CC_VIEW u64 lost_segs;	       /* marked lost, each as often as it was marked */
	CC_VIEW u32 resent_segs;       /* retransmissions */
	CC_VIEW u32 in_flight_segs;
	CC_VIEW u32 srtt_us;	/* CC_NO_RTT until the first sample */
	CC_VIEW u32 min_rtt_us; /* CC_NO_RTT until the first sample */
	CC_VIEW u32 mss_bytes;	/* payload of a full segment */
	CC_VIEW u32 snd_una;	/* sequence numbers, bytes modulo 2^32 */
	CC_VIEW u32 snd_nxt;
	CC_VIEW u32 random;	 /* uniform and new for each call, if CC_NEEDS_RANDOM */
	CC_VIEW u8 state;	 /* enum cc_ca_state */
	CC_VIEW u8 cwnd_limited; /* the window, not the application, limits sending */
	CC_VIEW u8 stack;	 /* enum cc_stack */
	CC_VIEW u8 is_marked;	 /* in ssthresh: congestion marks are the only sign */
	CC_VIEW u32
		base_rtt_us; /* RTT of the empty path, as TCP-BPF set it; 0: not set */
	CC_VIEW u32 pacing_wait_us; /* until pacing lets the next segment leave */
	/*
	 * The timestamp of the latest ACK and the one that it echoes (RFC 7323), in
	 * milliseconds of two clocks. 0 without timestamps and without CC_NEEDS_ONE_WAY.
	 */
	CC_VIEW u32 stamp_ms;
	CC_VIEW u32 echo_ms;
	/* With CC_EVENT_TX_START: time when data was last sent before, modulo 2^32. */
	CC_VIEW u32 last_sent_ms;
};

/* Measurements of one ACK (pkts_acked). */
struct cc_ack_sample {
	u32 pkts_acked; /* segments acknowledged cumulatively, SACKed before or not */
	/*
	 * RTT of the latest sent segment among those that this ACK newly acknowledges or
	 * SACKs and that were never retransmitted. If all were retransmitted, the RTT
	 * from timestamps, in whole milliseconds; -1: none.
	 */
	s32 rtt_us;
	/*
	 * Bytes delivered while that segment was in flight: exact with cong_control or
	 * CC_NEEDS_RATES. Otherwise bytes in flight after this ACK.
	 */
	u32 in_flight_bytes;
};

/* Delivery rate as of one ACK (cong_control). */
struct cc_rate_sample {
	u64 prior_delivered_segs;
	s64 interval_us; /* negative: no valid sample */
	s32 delivered_segs;
	s32 rtt_us; /* -1: none */
	u32 losses_segs;
	u32 acked_sacked_segs;
	u32 prior_in_flight_segs;
	u8 is_app_limited;
	u8 is_ack_delayed; /* for one segment below full size: a receiver may delay it */
	u8 reserved[2];
};

/*
 * Numbers that an algorithm reports, with names. Each sample has the first four, and each
 * change of its mode has all of them. The mode is the number called "mode", whose values
 * have names (cc_algorithm.mode_names).
 */
#define CC_INFO_MAX 16
#define CC_MODES_MAX 16

struct cc_info {
	u32 values[CC_INFO_MAX];
};

/* Arithmetic, and the primitives that algorithms share. */

/* Not every algorithm needs every argument of the hooks' common signatures. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Fractions that are parameters count in 1/1024, as Linux's do. */
#define CC_ONE 1024u
#define CC_USEC_PER_MSEC 1000u
/* No window is cut below two segments (RFC 5681, equation 4). */
#define CC_CWND_MIN 2u

static inline u32 cc_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

static inline u32 cc_max(u32 a, u32 b)
{
	return a > b ? a : b;
}

static inline u32 cc_clamp(u32 value, u32 low, u32 high)
{
	return cc_min(cc_max(value, low), high);
}

/*
 * An index into a table of `count` entries; larger ones become the last one. BPF's
 * verifier must see the bound, hence 64 bits and one register.
 */
static inline u64 cc_index(u64 index, u32 count)
{
#ifdef __bpf__
	asm volatile("" : "+r"(index));
#endif
	return index < count ? index : count - 1;
}

/*
 * Keep the memory behind a pointer in its place. BPF's stack has no space for copies of a
 * large table in registers.
 */
#ifdef __bpf__
#define CC_IN_MEMORY(pointer) asm volatile("" : "+r"(pointer))
#else
#define CC_IN_MEMORY(pointer) (void)(pointer)
#endif

/* The largest u32 instead of a wrapped one. */
static inline u32 cc_saturate(u64 value)
{
	return value > 0xffffffffu ? 0xffffffffu : (u32)value;
}

/* value * numerator / denominator, rounded down, without overflow between. */
static inline u32 cc_scale(u32 value, u32 numerator, u32 denominator)
{
	return cc_saturate((u64)value * numerator / denominator);
}

/* Sequence number a is later than b, modulo 2^32. */
static inline u8 cc_seq_after(u32 a, u32 b)
{
	return (s32)(b - a) < 0;
}

/* The clock of Linux's jiffy-based algorithms. */
static inline u32 cc_jiffies(const struct cc_conn *conn)
{
	return (u32)(conn->now_us / (CC_USEC_PER_SEC / CC_HZ));
}

static inline u32 cc_now_ms(const struct cc_conn *conn)
{
	return (u32)(conn->now_us / CC_USEC_PER_MSEC);
}

/* A duration in whole jiffies, rounded up as in Linux: only 0 us is 0. */
static inline u32 cc_us_to_jiffies(u32 us)
{
	u32 tick_us = CC_USEC_PER_SEC / CC_HZ;

	return us / tick_us + (us % tick_us > 0);
}

/*
 * A function that BPF's verifier checks separately. The verifier then need not follow its
 * callers for each possible result.
 */
#ifdef __bpf__
#define CC_APART __attribute__((noinline))
#else
#define CC_APART static inline
#endif

/* Cube root, rounded down, computed bit by bit. The root of 2^64 has 22 bits. */
CC_APART u32 cc_cube_root(u64 value)
{
	u64 root = 0;

	for (int bit = 21; bit >= 0; bit--) {
		u64 candidate = root | 1ull << bit;

		if (candidate * candidate <= value / candidate)
			root = candidate;
	}
	return (u32)root;
}

/* Growth is earned only while the window limits sending. */
static inline u8 cc_may_grow(const struct cc_conn *conn)
{
	return conn->cwnd_limited;
}

/* Widen the window, never beyond the clamp. */
static inline void cc_grow(struct cc_conn *conn, u32 segs)
{
	u32 cwnd = cc_min(conn->cwnd_segs, conn->cwnd_clamp_segs);

	conn->cwnd_segs = cwnd + cc_min(segs, conn->cwnd_clamp_segs - cwnd);
}

static inline u8 cc_in_slow_start(const struct cc_conn *conn)
{
	if (conn->stack & CC_STACK_SLOW_START_INCLUSIVE)
		return conn->cwnd_segs <= conn->ssthresh_segs;
	return conn->cwnd_segs < conn->ssthresh_segs;
}

/* Return true if the stack, not HyStart, ends slow start. */
static inline u8 cc_stack_ends_slow_start(const struct cc_conn *conn)
{
	return conn->stack & CC_STACK_ENDS_SLOW_START ? 1 : 0;
}

/* Slow start as a mode. During loss recovery the stack sets the window. */
static inline u8 cc_shows_slow_start(const struct cc_conn *conn)
{
	return cc_in_slow_start(conn) && conn->state != CC_CWR &&
	       conn->state != CC_RECOVERY;
}

/*
 * Slow start for one ACK: one segment for each acknowledged one (RFC 3465), or for each
 * ACK if the stack counts ACKs (RFC 5681), up to ssthresh. Return the acknowledged
 * segments that are left for congestion avoidance.
 */
static inline u32 cc_slow_start(struct cc_conn *conn, u32 acked)
{
	u32 inclusive = conn->stack & CC_STACK_SLOW_START_INCLUSIVE ? 1 : 0;
	u32 end = cc_saturate((u64)conn->ssthresh_segs + inclusive);
	u32 room = end > conn->cwnd_segs ? end - conn->cwnd_segs : 0;
	u32 segs;

	if (conn->stack & CC_STACK_COUNT_ACKS)
		acked = 1;
	segs = cc_min(acked, room);
	cc_grow(conn, segs);
	return conn->stack & CC_STACK_COUNT_ACKS ? 0 : acked - segs;
}

/*
 * Additive increase: one segment for every `per` acknowledged ones. cwnd_cnt keeps the
 * rest.
 */
static inline void cc_additive_increase(struct cc_conn *conn, u32 per, u32 acked)
{
	per = cc_max(per, 1);
	if (conn->stack & CC_STACK_COUNT_ACKS) {
		if (conn->cwnd_cnt >= per) {
			conn->cwnd_cnt = 0;
			cc_grow(conn, 1);
		} else {
			conn->cwnd_cnt++;
		}
		return;
	}
	if (conn->cwnd_cnt >= per) {
		conn->cwnd_cnt = 0;
		cc_grow(conn, 1);
	}
	conn->cwnd_cnt = cc_saturate((u64)conn->cwnd_cnt + acked);
	if (conn->cwnd_cnt >= per) {
		u32 segs = conn->cwnd_cnt / per;

		conn->cwnd_cnt -= segs * per;
		cc_grow(conn, segs);
	}
}

/*
 * Begin with an ACK that may raise the window: if growth is earned, do slow start. Return
 * true if congestion avoidance follows, and leave in *acked the segments that remain for
 * it.
 */
static inline u8 cc_reaches_avoidance(struct cc_conn *conn, u32 *acked)
{
	if (!cc_may_grow(conn))
		return 0;
	if (!cc_in_slow_start(conn))
		return 1;
	*acked = cc_slow_start(conn, *acked);
	return *acked > 0;
}

/* Growth of standard TCP (RFC 5681) for one ACK. */
static inline void cc_standard_growth(struct cc_conn *conn, u32 acked)
{
	if (cc_reaches_avoidance(conn, &acked))
		cc_additive_increase(conn, conn->cwnd_segs, acked);
}

/* End slow start, which must not regain the part of the window that was given up. */
static inline void cc_leave_slow_start(struct cc_conn *conn)
{
	u32 inclusive = conn->stack & CC_STACK_SLOW_START_INCLUSIVE ? 1 : 0;

	conn->ssthresh_segs = cc_min(conn->ssthresh_segs, conn->cwnd_segs - inclusive);
}

/* Set a window that does not depend on the last one, within the clamp. */
static inline void cc_set_window(struct cc_conn *conn, u32 segs)
{
	conn->cwnd_segs = cc_max(cc_min(segs, conn->cwnd_clamp_segs), 1);
	cc_leave_slow_start(conn);
}

/*
 * Count ACKs for more than one segment, up to CC_DELAYED_MAX. An ACK for one segment
 * looks delayed if others are for more (Hayes 2010), and reduces the count. Return the
 * new count. If it is smaller than before, the ACK looks delayed.
 */
#define CC_DELAYED_MAX 5

static inline u8 cc_count_delayed(u8 count, u32 acked)
{
	if (acked == 1 && count)
		return count - 1;
	return acked > 1 && count < CC_DELAYED_MAX ? count + 1 : count;
}

/* Half the window (RFC 5681, equation 4). */
static inline u32 cc_half_window(const struct cc_conn *conn)
{
	return cc_max(conn->cwnd_segs / 2, CC_CWND_MIN);
}

/*
 * Fraction of the window to keep: `ecn`, if it is set and congestion marks are the only
 * sign (ABE, RFC 8511), else `loss`.
 */
static inline u32 cc_kept(const struct cc_conn *conn, u32 loss, u32 ecn)
{
	return conn->is_marked && ecn ? ecn : loss;
}

/* Description of an algorithm and its hooks. */

enum cc_family {
	CC_FAMILY_LOSS,
	CC_FAMILY_DELAY,
	CC_FAMILY_HYBRID,
	CC_FAMILY_RATE,
	CC_FAMILY_ECN
};

/* Features of the stack that an algorithm needs (bits of cc_algorithm.flags). */
enum cc_flag {
	CC_NEEDS_PACING = 1,
	CC_NEEDS_RANDOM = 2,
	CC_NEEDS_ECN = 4,
	CC_NEEDS_RATES = 8, /* cc_ack_sample.in_flight_bytes; implied by cong_control */
	CC_NEEDS_ONE_WAY = 16, /* cc_conn.stamp_ms and echo_ms */
	/* cc_conn.is_marked */
	CC_NEEDS_MARKED = 64,
	/*
	 * Not a need, but history: in Linux 2.6.13 to 3.1, its window could fall to half
	 * of ssthresh during loss recovery, as Reno's, and not only to ssthresh
	 * (min_cwnd).
	 */
	CC_RENOS_BOUND = 32,
};

#define CC_PARAMETERS_MAX 24
#define CC_SETTINGS_MAX 12

struct cc_parameter {
	const char *name;
	const char *unit;
	const char *what;
	const char *source;
	u32 initial;
	u32 low; /* valid: low, low + step, ... high */
	u32 high;
	u32 step;
};

struct cc_setting {
	u32 parameter; /* index into the parameters, plus one; 0 ends the list */
	u32 value;
};

struct cc_preset {
	const char *name;
	const char *source;
	struct cc_setting settings[CC_SETTINGS_MAX];
};

struct cc_algorithm {
	u32 abi;
	u32 family;
	u32 year;
	u32 flags;
	u32 parameter_count;
	u32 preset_count;
	const char *name;
	const char *title;
	const char *source;
	const char *summary;
	const struct cc_parameter *parameters;
	const struct cc_preset *presets;
	const char *info_names[CC_INFO_MAX];
	const char *mode_names[CC_MODES_MAX];

	/* Every hook except ssthresh may be absent. One of cong_* must be present. */
	void (*init)(const void *params, void *state, struct cc_conn *conn);
	u32 (*ssthresh)(const void *params, void *state, const struct cc_conn *conn);
	void (*cong_avoid)(const void *params, void *state, struct cc_conn *conn,
			   u32 acked);
	void (*pkts_acked)(const void *params, void *state, struct cc_conn *conn,
			   const struct cc_ack_sample *sample);
	void (*cwnd_event)(const void *params, void *state, struct cc_conn *conn,
			   u32 event);
	void (*set_state)(const void *params, void *state, struct cc_conn *conn,
			  u32 new_state);
	void (*in_ack_event)(const void *params, void *state, struct cc_conn *conn,
			     u32 flags);
	u32 (*undo_cwnd)(const void *params, void *state, const struct cc_conn *conn);
	void (*cong_control)(const void *params, void *state, struct cc_conn *conn,
			     const struct cc_rate_sample *sample);
	void (*info)(const void *params, const void *state, const struct cc_conn *conn,
		     struct cc_info *info);
};

/*
 * Registration. A file NAME.c defines
 *
 *   NAME_parameters(P)  P(field, unit, initial, range, what, source) ...
 *   NAME_presets(S)     S("name", source, CC_SET(NAME, field, value), ...) ...
 *   NAME_hooks(H)       H(NAME, hook) ... for each hook that it has
 *
 * then CC_PARAMS(NAME), struct NAME_state and the hooks as static functions
 * NAME_hook, and ends with CC_ALGORITHM(NAME, .title = ..., ...).
 */
#define CC_RANGE(low_, high_) .low = (low_), .high = (high_), .step = 1
#define CC_EITHER(low_, high_) .low = (low_), .high = (high_), .step = (high_) - (low_)
#define CC_SWITCH CC_RANGE(0, 1)

#define CC_SET(NAME, field, value) \
	{__builtin_offsetof(struct NAME##_params, field) / sizeof(u32) + 1, value}

#define CC_PARAMS(NAME)                            \
	struct NAME##_params {                     \
		NAME##_parameters(CC_PARAMS_FIELD) \
	}
#define CC_PARAMS_FIELD(field, ...) u32 field;

/*
 * One entry function for each hook. It converts the untyped memory of a connection to the
 * algorithm's types. The kernel's adapters define others (CC_HOOK_PLAIN,
 * CC_HOOK_WITH_ARGUMENT, CC_HOOK_init).
 */
#ifndef CC_HOOK_PLAIN
#define CC_HOOK_PLAIN(type, NAME, hook, constant)                             \
	static type dumbbell_##NAME##_##hook(const void *params, void *state, \
					     constant struct cc_conn *conn)   \
	{                                                                     \
		return NAME##_##hook(params, state, conn);                    \
	}
#define CC_HOOK_WITH_ARGUMENT(NAME, hook, argument_type)                      \
	static void dumbbell_##NAME##_##hook(const void *params, void *state, \
					     struct cc_conn *conn,            \
					     argument_type argument)          \
	{                                                                     \
		NAME##_##hook(params, state, conn, argument);                 \
	}
#define CC_HOOK_init(NAME)                                                  \
	static void dumbbell_##NAME##_init(const void *params, void *state, \
					   struct cc_conn *conn)            \
	{                                                                   \
		NAME##_init(params, state, conn);                           \
	}
#endif

#define CC_HOOK(NAME, hook) CC_HOOK_##hook(NAME)
#define CC_HOOK_ssthresh(NAME) CC_HOOK_PLAIN(u32, NAME, ssthresh, const)
#define CC_HOOK_undo_cwnd(NAME) CC_HOOK_PLAIN(u32, NAME, undo_cwnd, const)
#define CC_HOOK_cong_avoid(NAME) CC_HOOK_WITH_ARGUMENT(NAME, cong_avoid, u32)
#define CC_HOOK_pkts_acked(NAME) \
	CC_HOOK_WITH_ARGUMENT(NAME, pkts_acked, const struct cc_ack_sample *)
#define CC_HOOK_cwnd_event(NAME) CC_HOOK_WITH_ARGUMENT(NAME, cwnd_event, u32)
#define CC_HOOK_set_state(NAME) CC_HOOK_WITH_ARGUMENT(NAME, set_state, u32)
#define CC_HOOK_in_ack_event(NAME) CC_HOOK_WITH_ARGUMENT(NAME, in_ack_event, u32)
#define CC_HOOK_cong_control(NAME) \
	CC_HOOK_WITH_ARGUMENT(NAME, cong_control, const struct cc_rate_sample *)
#define CC_HOOK_info(NAME)                                                        \
	static void dumbbell_##NAME##_info(const void *params, const void *state, \
					   const struct cc_conn *conn,            \
					   struct cc_info *info)                  \
	{                                                                         \
		NAME##_info(params, state, conn, info);                           \
	}

#define CC_CHECK(NAME)                                                                  \
	_Static_assert(sizeof(struct NAME##_state) <= CC_STATE_BYTES,                   \
		       #NAME ": the state exceeds what the kernel grants");             \
	_Static_assert(sizeof(struct NAME##_params) <= CC_PARAMETERS_MAX * sizeof(u32), \
		       #NAME ": more parameters than CC_PARAMETERS_MAX")

/*
 * The table that describes the algorithm. The simulator finds it by its name. In BPF only
 * its hooks remain, for the kernel's adapters of crates/testbed/bpf/adapter.h, which must
 * be included first (clang -include).
 */
#ifdef __bpf__
#define CC_TABLE(NAME) static const struct cc_algorithm cc_this
#else
#define CC_TABLE(NAME)                                                       \
	extern const u32 dumbbell_state_bytes_##NAME;                        \
	const u32 dumbbell_state_bytes_##NAME = sizeof(struct NAME##_state); \
	extern const struct cc_algorithm dumbbell_algorithm_##NAME;          \
	const struct cc_algorithm dumbbell_algorithm_##NAME
#define CC_STRUCT_OPS(NAME, ...) _Static_assert(1, "")
#endif

#define CC_PARAMETER_ROW(field, unit_, initial_, range, what_, source_) \
	{.name = #field,                                                \
	 .unit = unit_,                                                 \
	 .what = what_,                                                 \
	 .source = source_,                                             \
	 .initial = initial_,                                           \
	 range},
#define CC_PRESET_ROW(name_, source_, ...) \
	{.name = name_, .source = source_, .settings = {__VA_ARGS__}},
#define CC_SLOT(NAME, hook) .hook = dumbbell_##NAME##_##hook,

#define CC_ALGORITHM(NAME, ...)                                                          \
	CC_CHECK(NAME);                                                                  \
	NAME##_hooks(                                                                    \
		CC_HOOK) static const struct cc_parameter NAME##_parameter_rows[] = {    \
		NAME##_parameters(CC_PARAMETER_ROW)};                                    \
	static const struct cc_preset NAME##_preset_rows[] = {                           \
		NAME##_presets(CC_PRESET_ROW)};                                          \
	CC_TABLE(NAME) = {.abi = CC_ABI,                                                 \
			  .name = #NAME,                                                 \
			  .parameter_count = sizeof(struct NAME##_params) / sizeof(u32), \
			  .parameters = NAME##_parameter_rows,                           \
			  .preset_count =                                                \
				  sizeof(NAME##_preset_rows) / sizeof(struct cc_preset), \
			  .presets = NAME##_preset_rows,                                 \
			  NAME##_hooks(CC_SLOT) __VA_ARGS__};                            \
	CC_STRUCT_OPS(NAME, __VA_ARGS__)

#endif
