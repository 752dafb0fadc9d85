/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * adapter.h - an algorithm of algorithms/ as a tcp_congestion_ops of Linux.
 *
 * It is included before an algorithm's file (clang -target bpf -include adapter.h). Then
 * CC_ALGORITHM defines one struct_ops program for each of its hooks and the
 * tcp_congestion_ops that names them. A program copies the visible part of the socket to
 * a struct cc_conn, and the state from the socket's private bytes. It calls the hook, and
 * copies back the writable part. The loader finds the kernel's fields by name (CO-RE), so
 * the structs below contain only the fields in use.
 *
 * An algorithm that needs ECN also receives as one: each acknowledgement reports whether
 * its segments were marked (RFC 8257, section 3.2). With Accurate ECN (RFC 9768), the
 * kernel does that. Kernels before 7.0 do not negotiate it, so a new connection is set to
 * this mode.
 *
 * BPF has two limits. It cannot write cwnd_clamp_segs. The kernel does not ask a BPF
 * algorithm for its info, so struct cc_flow contains the state instead.
 */
#ifndef DUMBBELL_ADAPTER_H
#define DUMBBELL_ADAPTER_H

/* The adapter fills in the fields that algorithms may only read. */
#define CC_VIEW

/*
 * The verifier checks a hook as a separate function, once for any state and any
 * connection. It does not follow the values behind its pointers, so the paths of a hook
 * do not multiply with those before it. The compiler must keep the arguments that a hook
 * does not use.
 */
#define CC_HOOK_APART(type, NAME, hook, constant, ...)    \
	__attribute__((noinline)) type cc_##hook##_apart( \
		struct NAME##_state *state,               \
		constant struct cc_conn *conn __VA_OPT__(, ) __VA_ARGS__)
#define CC_USED(argument) asm volatile("" : "+r"(argument))
#define CC_HOOK_PLAIN(type, NAME, hook, constant)                                   \
	CC_HOOK_APART(type, NAME, hook, constant)                                   \
	{                                                                           \
		CC_USED(state);                                                     \
		CC_USED(conn);                                                      \
		return state && conn ? NAME##_##hook(cc_params(), state, conn) : 0; \
	}                                                                           \
	CC_INLINE type dumbbell_##NAME##_##hook(const void *params, void *state,    \
						constant struct cc_conn *conn)      \
	{                                                                           \
		return cc_##hook##_apart(state, conn);                              \
	}
#define CC_HOOK_WITH_ARGUMENT(NAME, hook, argument_type)                         \
	CC_HOOK_APART(u32, NAME, hook, , argument_type argument)                 \
	{                                                                        \
		CC_USED(state);                                                  \
		CC_USED(conn);                                                   \
		CC_USED(argument);                                               \
		if (state && conn && CC_IS_THERE(argument))                      \
			NAME##_##hook(cc_params(), state, conn, argument);       \
		return 0;                                                        \
	}                                                                        \
	CC_INLINE void dumbbell_##NAME##_##hook(const void *params, void *state, \
						struct cc_conn *conn,            \
						argument_type argument)          \
	{                                                                        \
		cc_##hook##_apart(state, conn, argument);                        \
	}
#define CC_HOOK_init(NAME)                                                     \
	CC_HOOK_APART(u32, NAME, init, )                                       \
	{                                                                      \
		CC_USED(state);                                                \
		CC_USED(conn);                                                 \
		if (state && conn)                                             \
			NAME##_init(cc_params(), state, conn);                 \
		return 0;                                                      \
	}                                                                      \
	CC_INLINE void dumbbell_##NAME##_init(const void *params, void *state, \
					      struct cc_conn *conn)            \
	{                                                                      \
		cc_init_apart(state, conn);                                    \
	}
/* Numbers are always present, pointers may be null. */
#define CC_IS_THERE(argument) _Generic((argument), u32: 1, default: (argument) != 0)

#include "cc.h"
#include "flow.h"

#define CC_SECTION(name) __attribute__((section(name), used))
#define CC_INLINE static inline __attribute__((always_inline))

/*
 * The kernel's structs.
 */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	u16 skc_num; /* the local port */
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate; /* bytes/s; ~0: none */
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
};

struct ack_state {
	u8 pending;
};

struct inet_connection_sock {
	u8 icsk_ca_state : 5;
	struct ack_state icsk_ack;
	u64 icsk_ca_priv[CC_STATE_BYTES / sizeof(u64)];
};

struct minmax_sample {
	u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_rack {
	u32 rtt_us; /* of the latest sent of what was delivered */
};

struct tcp_options_received {
	u32 rcv_tsval;
	u32 rcv_tsecr;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	u64 tcp_clock_cache; /* ns */
	u64 tcp_wstamp_ns;   /* when pacing lets the next segment leave */
	u64 tcp_mstamp;	     /* us */
	u64 first_tx_mstamp; /* us, when the latest of what was delivered was sent */
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_ssthresh;
	u32 snd_cwnd_clamp;
	u32 prior_cwnd;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 total_retrans;
	u32 app_limited;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u32 srtt_us; /* in 1/8 */
	struct minmax rtt_min;
	struct tcp_rack rack;
	u32 mss_cache;
	u32 snd_una;
	u32 snd_nxt;
	u32 rcv_nxt;
	u8 ecn_flags;
	u8 is_cwnd_limited : 1;
};

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight; /* bytes delivered while the segment was in flight */
};

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	_Bool is_app_limited;
	_Bool is_ack_delayed;
};

#pragma clang attribute pop

typedef u64 cc_program(u64 *context);

/* Its members find those of the kernel by name, too, so their order is free. */
struct tcp_congestion_ops {
	char name[16];
	u32 flags;
	cc_program *init;
	cc_program *ssthresh;
	cc_program *cong_avoid;
	cc_program *pkts_acked;
	cc_program *cwnd_event;
	cc_program *set_state;
	cc_program *in_ack_event;
	cc_program *undo_cwnd;
	cc_program *cong_control;
};

#define CC_TCP_CONG_NEEDS_ECN 2

/* Bits of ecn_flags and of icsk_ack.pending. */
#define CC_ECN_DEMAND_CWR 4
#define CC_ECN_ACCURATE 16
#define CC_ACK_PENDING_TIMER 2
#define CC_ACK_PENDING_NOW 16

enum cc_pacing_status { CC_PACING_NONE, CC_PACING_NEEDED };

/* rtt_min before the first sample, and sk_pacing_rate of a flow without pacing. */
#define CC_RTT_MIN_NONE 0xffffffffu
#define CC_PACING_RATE_NONE (~0ul)
/* A socket option sets the limit of the rate in 32 bits; all ones mean none. */
#define CC_PACING_LIMIT_MAX 0xfffffffeu

#define CC_SOL_SOCKET 1
#define CC_SO_MAX_PACING_RATE 47

/* enum of __builtin_preserve_field_info */
#define CC_FIELD_BYTE_OFFSET 0
#define CC_FIELD_BYTE_SIZE 1
#define CC_FIELD_LSHIFT_U64 4
#define CC_FIELD_RSHIFT_U64 5

/* A bit field, at its place in this kernel. */
#define CC_BITS(object, field)                                                         \
	(cc_load((object),                                                             \
		 __builtin_preserve_field_info((object)->field, CC_FIELD_BYTE_OFFSET), \
		 __builtin_preserve_field_info((object)->field, CC_FIELD_BYTE_SIZE))   \
		 << __builtin_preserve_field_info((object)->field,                     \
						  CC_FIELD_LSHIFT_U64) >>              \
	 __builtin_preserve_field_info((object)->field, CC_FIELD_RSHIFT_U64))

CC_INLINE u64 cc_load(const void *object, u32 offset, u32 bytes)
{
	const void *at = (const u8 *)object + offset;

	/* This keeps the compiler from merging offsets that are not known yet. */
	asm volatile("" : "+r"(at));
	switch (bytes) {
	case 1:
		return *(const u8 *)at;
	case 2:
		return *(const u16 *)at;
	case 4:
		return *(const u32 *)at;
	default:
		return *(const u64 *)at;
	}
}

/* The kernel's functions, by number, and its kinds of maps. */
static u64 (*const cc_clock_ns)(void) = (void *)5;
static u32 (*const cc_random)(void) = (void *)7;
static long (*const cc_send_ack)(void *tp, u32 rcv_nxt) = (void *)116;
static long (*const cc_setsockopt)(void *sk, int level, int name, void *value,
				   int bytes) = (void *)49;
static void *(*const cc_storage_get)(void *map, void *sk, void *value,
				     u64 flags) = (void *)107;
static void *(*const cc_ring_reserve)(void *ring, u64 bytes, u64 flags) = (void *)131;
static void (*const cc_ring_submit)(void *data, u64 flags) = (void *)132;

#define CC_MAP_SK_STORAGE 24
#define CC_MAP_RINGBUF 27
#define CC_MAP_NO_PREALLOC 1
#define CC_STORAGE_CREATE 1
#define CC_RING_NO_WAKEUP 1

/* Socket storage of the whole run. All its objects share one map. */
struct {
	int (*type)[CC_MAP_SK_STORAGE];
	int (*map_flags)[CC_MAP_NO_PREALLOC];
	int *key;
	struct cc_flow *value;
} cc_flows CC_SECTION(".maps");

/* Records of callbacks. The loader sets the size if they are used. */
struct {
	int (*type)[CC_MAP_RINGBUF];
	int (*max_entries)[4096];
} cc_records CC_SECTION(".maps");

/* Number of callbacks without room in cc_records. */
u64 cc_records_lost CC_SECTION(".bss.dumbbell");

/*
 * Constants that are set before the object is loaded. The verifier then knows them, and
 * removes disabled code.
 */
struct cc_settings {
	u32 keep_state;
	u32 keep_callbacks;
	u32 counts_marks;
	struct cc_start_params start;
	u32 params[CC_PARAMETERS_MAX];
};

extern const volatile struct cc_settings cc_settings;

/* The algorithm of this object. The compiler inlines its hooks. */
static const struct cc_algorithm cc_this;

/* The parameters, at an address that hides the object's values from the compiler. */
CC_INLINE const void *cc_params(void)
{
	const void *params = (const void *)cc_settings.params;

	asm volatile("" : "+r"(params));
	return params;
}

CC_INLINE const struct cc_start_params *cc_start_choice(void)
{
	const struct cc_start_params *choice = (const void *)&cc_settings.start;

	asm volatile("" : "+r"(choice));
	return choice;
}

/*
 * One call of a hook.
 */
enum cc_hook {
	CC_ON_INIT,
	CC_ON_SSTHRESH,
	CC_ON_CONG_AVOID,
	CC_ON_PKTS_ACKED,
	CC_ON_CWND_EVENT,
	CC_ON_SET_STATE,
	CC_ON_IN_ACK_EVENT,
	CC_ON_UNDO_CWND,
	CC_ON_CONG_CONTROL,
};

union cc_argument {
	u32 number;
	struct cc_ack_sample ack;
	struct cc_rate_sample rate;
	u64 words[sizeof(struct cc_rate_sample) / sizeof(u64)];
};

struct cc_memory {
	struct cc_conn conn;
	u64 state[CC_STATE_BYTES / sizeof(u64)];
};

/* A call for user space. kernel/record.rs has the same layout. */
struct cc_record {
	u64 socket; /* which of those of one port */
	u32 hook;
	u32 result; /* of ssthresh and undo_cwnd */
	u64 port;
	struct cc_memory before;
	union cc_argument argument;
	struct cc_memory after;
};

_Static_assert(sizeof(struct cc_record) == 512, "not what kernel/record.rs reads");

struct cc_call {
	struct cc_memory memory;
	union cc_argument argument;
	struct cc_flow *flow;
	struct cc_record *record;
};

CC_INLINE u8 cc_is_cwnd_limited(struct tcp_sock *tp)
{
	if (CC_BITS(tp, is_cwnd_limited))
		return 1;
	return tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
}

/*
 * An algorithm without cong_control shares the rate with the kernel, which sets
 * sk_pacing_rate after each ACK. Such an algorithm sets the limit of that rate.
 */
CC_INLINE u64 cc_pacing_rate(struct sock *sk)
{
	u64 rate = sk->sk_pacing_rate;

	if (sk->sk_pacing_status == CC_PACING_NONE)
		return 0;
	if (cc_this.flags & CC_NEEDS_PACING && !cc_this.cong_control) {
		rate = sk->sk_max_pacing_rate;
		return rate <= CC_PACING_LIMIT_MAX ? rate : 0;
	}
	return rate == CC_PACING_RATE_NONE ? 0 : rate;
}

CC_INLINE u32 cc_pacing_wait_us(struct tcp_sock *tp)
{
	u64 now = tp->tcp_clock_cache;
	u64 next = tp->tcp_wstamp_ns;

	return next > now ? cc_saturate((next - now) / 1000) : 0;
}

CC_INLINE void cc_read_conn(struct cc_conn *conn, struct tcp_sock *tp)
{
	u32 min_rtt_us = tp->rtt_min.s[0].v;
	u32 srtt_us = tp->srtt_us;

	conn->cwnd_segs = tp->snd_cwnd;
	conn->cwnd_cnt = tp->snd_cwnd_cnt;
	conn->ssthresh_segs = tp->snd_ssthresh;
	conn->cwnd_clamp_segs = tp->snd_cwnd_clamp;
	conn->pacing_rate_bytes_per_s = cc_pacing_rate((struct sock *)tp);
	conn->app_limited_segs = tp->app_limited;
	conn->prior_cwnd_segs = tp->prior_cwnd;
	conn->now_us = tp->tcp_mstamp;
	conn->delivered_segs = tp->delivered;
	conn->delivered_ce_segs = tp->delivered_ce;
	conn->lost_segs = tp->lost;
	conn->resent_segs = tp->total_retrans;
	conn->in_flight_segs =
		tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
	conn->srtt_us = srtt_us ? srtt_us >> 3 : CC_NO_RTT;
	conn->min_rtt_us = min_rtt_us == CC_RTT_MIN_NONE ? CC_NO_RTT : min_rtt_us;
	conn->mss_bytes = tp->mss_cache;
	conn->snd_una = tp->snd_una;
	conn->snd_nxt = tp->snd_nxt;
	conn->random = cc_this.flags & CC_NEEDS_RANDOM ? cc_random() : 0;
	conn->state = CC_BITS(&tp->inet_conn, icsk_ca_state);
	conn->cwnd_limited = cc_is_cwnd_limited(tp);
	conn->stack =
		cc_settings.start.kind == CC_START_OWN ? 0 : CC_STACK_ENDS_SLOW_START;
	conn->is_marked = 0;
	conn->pacing_wait_us = cc_pacing_wait_us(tp);
	conn->stamp_ms = cc_this.flags & CC_NEEDS_ONE_WAY ? tp->rx_opt.rcv_tsval : 0;
	conn->echo_ms = cc_this.flags & CC_NEEDS_ONE_WAY ? tp->rx_opt.rcv_tsecr : 0;
	/*
	 * With nothing in flight, the segment delivered last is also the one sent last.
	 */
	conn->last_sent_ms = (u32)(tp->first_tx_mstamp / CC_USEC_PER_MSEC);
}

CC_INLINE void cc_pace(struct sock *sk, u64 rate)
{
	u32 limit = rate < CC_PACING_LIMIT_MAX ? (u32)rate : CC_PACING_LIMIT_MAX;

	if (!rate) {
		/* Only an algorithm that began to pace may end it. */
		if (cc_pacing_rate(sk) && sk->sk_pacing_status == CC_PACING_NEEDED)
			sk->sk_pacing_status = CC_PACING_NONE;
		return;
	}
	if (cc_this.cong_control)
		sk->sk_pacing_rate = rate;
	else if (limit != sk->sk_max_pacing_rate)
		cc_setsockopt(sk, CC_SOL_SOCKET, CC_SO_MAX_PACING_RATE, &limit,
			      sizeof(limit));
	if (sk->sk_pacing_status == CC_PACING_NONE)
		sk->sk_pacing_status = CC_PACING_NEEDED;
}

CC_INLINE void cc_write_conn(struct tcp_sock *tp, const struct cc_conn *conn)
{
	/* A window of 0 would stop the connection for good. */
	tp->snd_cwnd = cc_max(conn->cwnd_segs, 1);
	tp->snd_cwnd_cnt = conn->cwnd_cnt;
	tp->snd_ssthresh = conn->ssthresh_segs;
	if (cc_this.cong_control)
		tp->app_limited = conn->app_limited_segs;
	if (cc_this.flags & CC_NEEDS_PACING)
		cc_pace((struct sock *)tp, conn->pacing_rate_bytes_per_s);
}

/* Record what the hook is given, if callbacks are kept. */
CC_INLINE void cc_begin_record(struct cc_call *call, struct tcp_sock *tp, u32 hook)
{
	struct cc_record *record;

	if (!cc_settings.keep_callbacks)
		return;
	record = cc_ring_reserve(&cc_records, sizeof(*record), 0);
	call->record = record;
	if (!record) {
		__sync_fetch_and_add(&cc_records_lost, 1);
		return;
	}
	record->socket = (u64)tp;
	record->hook = hook;
	record->port = ((struct sock *)tp)->__sk_common.skc_num;
	record->before = call->memory;
	record->argument = call->argument;
}

/* Fill in the hook's view of the connection. */
CC_INLINE void cc_look(struct cc_call *call, struct tcp_sock *tp)
{
	struct cc_memory *memory = &call->memory;

	cc_read_conn(&memory->conn, tp);
	for (u32 word = 0; word < CC_STATE_BYTES / sizeof(u64); word++)
		memory->state[word] = tp->inet_conn.icsk_ca_priv[word];
	call->flow = cc_storage_get(&cc_flows, tp, 0, 0);
	memory->conn.base_rtt_us = call->flow ? call->flow->base_rtt_us : 0;
}

/* Fill it in and record it. call->argument is set already. */
CC_INLINE void cc_begin(struct cc_call *call, struct tcp_sock *tp, u32 hook)
{
	cc_look(call, tp);
	cc_begin_record(call, tp, hook);
}

/* Apply the hook's changes; those to conn only if it may write. */
CC_INLINE void cc_end(struct cc_call *call, struct tcp_sock *tp, u8 may_write)
{
	struct cc_memory *memory = &call->memory;

	if (may_write)
		cc_write_conn(tp, &memory->conn);
	for (u32 word = 0; word < CC_STATE_BYTES / sizeof(u64); word++)
		tp->inet_conn.icsk_ca_priv[word] = memory->state[word];
	if (cc_settings.keep_state && call->flow) {
		call->flow->conn = memory->conn;
		__builtin_memcpy(call->flow->state, memory->state, CC_STATE_BYTES);
	}
}

CC_INLINE void cc_submit(struct cc_call *call, u32 result)
{
	if (!cc_settings.keep_callbacks || !call->record)
		return;
	call->record->result = result;
	call->record->after = call->memory;
	cc_ring_submit(call->record, CC_RING_NO_WAKEUP);
}

/*
 * The programs' bodies. The first argument of each of the kernel's hooks is the socket.
 */
#define CC_CALLED(call, socket, context)                       \
	struct tcp_sock *socket = (struct tcp_sock *)*context; \
	struct cc_call call = {0}

CC_INLINE u64 cc_on_init(const u64 *context)
{
	CC_CALLED(call, tp, context);

	if (cc_settings.counts_marks)
		tp->ecn_flags = CC_ECN_ACCURATE;
	if (!cc_this.init)
		return 0;
	cc_look(&call, tp);
	/* The socket's own time is that of its last packet, which may be long ago. */
	call.memory.conn.now_us = cc_clock_ns() / 1000;
	cc_begin_record(&call, tp, CC_ON_INIT);
	cc_this.init(cc_params(), call.memory.state, &call.memory.conn);
	cc_submit(&call, 0);
	cc_end(&call, tp, 1);
	return 0;
}

CC_INLINE u64 cc_on_ssthresh(const u64 *context)
{
	CC_CALLED(call, tp, context);
	u32 segs;

	cc_look(&call, tp);
	if (cc_this.flags & CC_NEEDS_MARKED && call.flow)
		call.memory.conn.is_marked =
			call.flow->is_marked && call.flow->marked_lost_segs == tp->lost;
	cc_begin_record(&call, tp, CC_ON_SSTHRESH);
	segs = cc_this.ssthresh(cc_params(), call.memory.state, &call.memory.conn);
	cc_submit(&call, segs);
	if (cc_settings.start.kind > CC_START_STANDARD && call.flow)
		segs = cc_start_cut(cc_start_choice(), &call.flow->start,
				    &call.memory.conn, segs);
	cc_end(&call, tp, 0);
	return segs;
}

/* The kernel requires this hook. Without one, an algorithm uses Reno's. */
CC_INLINE u64 cc_on_undo_cwnd(const u64 *context)
{
	CC_CALLED(call, tp, context);
	struct cc_conn *conn = &call.memory.conn;
	u32 segs;

	cc_begin(&call, tp, CC_ON_UNDO_CWND);
	if (cc_this.undo_cwnd)
		segs = cc_this.undo_cwnd(cc_params(), call.memory.state, conn);
	else
		segs = cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
	cc_submit(&call, segs);
	cc_end(&call, tp, 0);
	return segs;
}

/* Hooks with a number as input. */
#define CC_ON_NUMBER(hook, number_, index)                                               \
	CC_INLINE u64 cc_on_##hook(const u64 *context)                                   \
	{                                                                                \
		CC_CALLED(call, tp, context);                                            \
		u32 number = (u32)context[index];                                        \
                                                                                         \
		call.argument.number = number;                                           \
		cc_begin(&call, tp, number_);                                            \
		cc_this.hook(cc_params(), call.memory.state, &call.memory.conn, number); \
		cc_submit(&call, 0);                                                     \
		cc_end(&call, tp, 1);                                                    \
		return 0;                                                                \
	}

CC_ON_NUMBER(set_state, CC_ON_SET_STATE, 1)

/* Note whether this ACK carries a mark, before the kernel checks it for losses. */
CC_INLINE void cc_note_mark(struct tcp_sock *tp, u32 flags)
{
	struct cc_flow *flow = cc_storage_get(&cc_flows, tp, 0, 0);

	if (!flow)
		return;
	flow->is_marked = flags & CC_ACK_ECE ? 1 : 0;
	flow->marked_lost_segs = tp->lost;
}

CC_INLINE u64 cc_on_in_ack_event(const u64 *context)
{
	CC_CALLED(call, tp, context);
	u32 flags = (u32)context[1];

	if (cc_this.flags & CC_NEEDS_MARKED)
		cc_note_mark(tp, flags);
	if (!cc_this.in_ack_event)
		return 0;
	call.argument.number = flags;
	cc_begin(&call, tp, CC_ON_IN_ACK_EVENT);
	cc_this.in_ack_event(cc_params(), call.memory.state, &call.memory.conn, flags);
	cc_submit(&call, 0);
	cc_end(&call, tp, 1);
	return 0;
}

/*
 * The stack's slow start, a separate function as hooks are. It returns the number of
 * acknowledged segments to pass to the algorithm.
 */
u32 cc_start_part_apart(struct cc_start *start, struct cc_conn *conn, u32 acked,
			u32 rtt_us);
#define CC_START_APART                                                                  \
	__attribute__((noinline)) u32 cc_start_part_apart(                              \
		struct cc_start *start, struct cc_conn *conn, u32 acked, u32 rtt_us)    \
	{                                                                               \
		CC_USED(start);                                                         \
		CC_USED(conn);                                                          \
		CC_USED(acked);                                                         \
		CC_USED(rtt_us);                                                        \
		if (!start || !conn)                                                    \
			return acked;                                                   \
		return cc_start_part_of(cc_start_choice(), start, conn, acked, rtt_us); \
	}

/* Pace a slow start that sets the window, if the algorithm does not pace. */
CC_INLINE void cc_start_pace(struct cc_flow *flow, struct sock *sk, u64 rate, u8 holds)
{
	u32 limit = holds && rate < CC_PACING_LIMIT_MAX ? (u32)rate : ~0u;

	if (cc_this.flags & CC_NEEDS_PACING || (!holds && !flow->start_paces))
		return;
	cc_setsockopt(sk, CC_SOL_SOCKET, CC_SO_MAX_PACING_RATE, &limit, sizeof(limit));
	if (holds && !flow->start_paces)
		flow->start_paces = 1 + (sk->sk_pacing_status == CC_PACING_NONE);
	if (holds && sk->sk_pacing_status == CC_PACING_NONE)
		sk->sk_pacing_status = CC_PACING_NEEDED;
	if (!holds && flow->start_paces > 1)
		sk->sk_pacing_status = CC_PACING_NONE;
	if (!holds)
		flow->start_paces = 0;
}

CC_INLINE void cc_call_cong_avoid(struct cc_call *call, struct tcp_sock *tp, u32 acked)
{
	call->argument.number = acked;
	cc_begin_record(call, tp, CC_ON_CONG_AVOID);
	cc_this.cong_avoid(cc_params(), call->memory.state, &call->memory.conn, acked);
	cc_submit(call, 0);
}

CC_INLINE u64 cc_on_cong_avoid(const u64 *context)
{
	CC_CALLED(call, tp, context);
	struct cc_conn *conn = &call.memory.conn;
	u32 acked = (u32)context[2];
	u32 rtt_us = tp->rack.rtt_us ? tp->rack.rtt_us : CC_NO_RTT;
	struct cc_flow *flow;

	cc_look(&call, tp);
	flow = call.flow;
	if (cc_settings.start.kind <= CC_START_STANDARD || !flow ||
	    !cc_start_rules(cc_start_choice(), &flow->start, conn)) {
		cc_call_cong_avoid(&call, tp, acked);
		cc_end(&call, tp, 1);
		return 0;
	}
	acked = cc_start_part_apart(&flow->start, conn, acked, rtt_us);
	if (acked)
		cc_call_cong_avoid(&call, tp, acked);
	cc_start_grown(cc_start_choice(), &flow->start, conn, rtt_us);
	if (cc_settings.start.kind == CC_START_RESUME)
		cc_start_pace(flow, (struct sock *)tp, conn->pacing_rate_bytes_per_s,
			      cc_start_holds(cc_start_choice(), &flow->start));
	cc_end(&call, tp, 1);
	return 0;
}

/*
 * Take an arriving segment, marked or not. If it differs from the one before, acknowledge
 * all earlier segments with the old state, and this one at once.
 */
CC_INLINE void cc_echo_mark(struct tcp_sock *tp, u8 is_marked)
{
	struct cc_flow *flow = cc_storage_get(&cc_flows, tp, 0, CC_STORAGE_CREATE);
	u8 flags = tp->ecn_flags & ~CC_ECN_DEMAND_CWR;
	u8 pending = tp->inet_conn.icsk_ack.pending;

	if (!flow)
		return;
	if (flow->ce_state != is_marked) {
		if (pending & CC_ACK_PENDING_TIMER) {
			tp->ecn_flags =
				flow->ce_state ? flags | CC_ECN_DEMAND_CWR : flags;
			cc_send_ack(tp, flow->ce_rcv_nxt);
		}
		pending = tp->inet_conn.icsk_ack.pending;
		tp->inet_conn.icsk_ack.pending = pending | CC_ACK_PENDING_NOW;
	}
	flow->ce_state = is_marked;
	flow->ce_rcv_nxt = tp->rcv_nxt;
	tp->ecn_flags = is_marked ? flags | CC_ECN_DEMAND_CWR : flags;
}

CC_INLINE u64 cc_on_cwnd_event(const u64 *context)
{
	CC_CALLED(call, tp, context);
	u32 event = (u32)context[1];

	if (cc_this.flags & CC_NEEDS_ECN && !cc_settings.counts_marks &&
	    (event == CC_EVENT_ECN_IS_CE || event == CC_EVENT_ECN_NO_CE))
		cc_echo_mark(tp, event == CC_EVENT_ECN_IS_CE);
	if (!cc_this.cwnd_event && cc_settings.start.kind != CC_START_RESUME)
		return 0;
	call.argument.number = event;
	cc_look(&call, tp);
	if (cc_this.cwnd_event) {
		cc_begin_record(&call, tp, CC_ON_CWND_EVENT);
		cc_this.cwnd_event(cc_params(), call.memory.state, &call.memory.conn,
				   event);
		cc_submit(&call, 0);
	}
	if (cc_settings.start.kind == CC_START_RESUME && event == CC_EVENT_COMPLETE_CWR &&
	    call.flow)
		cc_start_repaired(cc_start_choice(), &call.flow->start,
				  &call.memory.conn);
	cc_end(&call, tp, 1);
	return 0;
}

CC_INLINE u64 cc_on_pkts_acked(const u64 *context)
{
	CC_CALLED(call, tp, context);
	const struct ack_sample *sample = (const struct ack_sample *)context[1];
	struct cc_ack_sample *ack = &call.argument.ack;

	ack->pkts_acked = sample->pkts_acked;
	ack->rtt_us = sample->rtt_us;
	ack->in_flight_bytes = sample->in_flight;
	cc_begin(&call, tp, CC_ON_PKTS_ACKED);
	cc_this.pkts_acked(cc_params(), call.memory.state, &call.memory.conn, ack);
	cc_submit(&call, 0);
	cc_end(&call, tp, 1);
	return 0;
}

CC_INLINE void cc_read_rate(struct cc_rate_sample *rate, const struct rate_sample *sample)
{
	rate->prior_delivered_segs = sample->prior_delivered;
	rate->interval_us = sample->interval_us;
	rate->delivered_segs = sample->delivered;
	rate->rtt_us = (s32)sample->rtt_us;
	rate->losses_segs = (u32)sample->losses;
	rate->acked_sacked_segs = sample->acked_sacked;
	rate->prior_in_flight_segs = sample->prior_in_flight;
	rate->is_app_limited = sample->is_app_limited;
	rate->is_ack_delayed = sample->is_ack_delayed;
}

CC_INLINE u64 cc_on_cong_control(const u64 *context)
{
	CC_CALLED(call, tp, context);

	cc_read_rate(&call.argument.rate, (const struct rate_sample *)context[3]);
	cc_begin(&call, tp, CC_ON_CONG_CONTROL);
	cc_this.cong_control(cc_params(), call.memory.state, &call.memory.conn,
			     &call.argument.rate);
	cc_submit(&call, 0);
	cc_end(&call, tp, 1);
	return 0;
}

/* The programs that CC_ALGORITHM(NAME) adds to the algorithm's table. */
#define CC_PROGRAM_OF(hook)                                  \
	CC_SECTION("struct_ops") u64 on_##hook(u64 *context) \
	{                                                    \
		return cc_on_##hook(context);                \
	}
#define CC_PROGRAM(NAME, hook) CC_PROGRAM_##hook
#define CC_PROGRAM_init
#define CC_PROGRAM_ssthresh CC_PROGRAM_OF(ssthresh)
#define CC_PROGRAM_cong_avoid CC_START_APART CC_PROGRAM_OF(cong_avoid)
#define CC_PROGRAM_pkts_acked CC_PROGRAM_OF(pkts_acked)
#define CC_PROGRAM_cwnd_event
#define CC_PROGRAM_set_state CC_PROGRAM_OF(set_state)
#define CC_PROGRAM_in_ack_event
#define CC_PROGRAM_undo_cwnd
#define CC_PROGRAM_cong_control CC_PROGRAM_OF(cong_control)
#define CC_PROGRAM_info

#define CC_MEMBER(NAME, hook) CC_MEMBER_##hook
#define CC_MEMBER_init
#define CC_MEMBER_ssthresh .ssthresh = on_ssthresh,
#define CC_MEMBER_cong_avoid .cong_avoid = on_cong_avoid,
#define CC_MEMBER_pkts_acked .pkts_acked = on_pkts_acked,
#define CC_MEMBER_cwnd_event
#define CC_MEMBER_set_state .set_state = on_set_state,
#define CC_MEMBER_in_ack_event
#define CC_MEMBER_undo_cwnd
#define CC_MEMBER_cong_control .cong_control = on_cong_control,
#define CC_MEMBER_info

#define CC_INITIAL(field, unit, initial, ...) initial,

/* The loader fills in the name, which must be unique on the machine. */
#define CC_STRUCT_OPS(NAME, ...)                                                         \
	CC_SECTION(".rodata.dumbbell")                                                   \
	const volatile struct cc_settings cc_settings = {                                \
		.params = {NAME##_parameters(CC_INITIAL)}};                              \
	NAME##_hooks(CC_PROGRAM) CC_PROGRAM_OF(cwnd_event) CC_PROGRAM_OF(undo_cwnd)      \
		CC_PROGRAM_OF(in_ack_event) CC_PROGRAM_OF(init) CC_SECTION(              \
			".struct_ops.link") struct tcp_congestion_ops cc_ops = {         \
			NAME##_hooks(CC_MEMBER).cwnd_event = on_cwnd_event,              \
			.undo_cwnd = on_undo_cwnd, .in_ack_event = on_in_ack_event,      \
			.init = on_init,                                                 \
			.flags = (struct cc_algorithm){__VA_ARGS__}.flags & CC_NEEDS_ECN \
					 ? CC_TCP_CONG_NEEDS_ECN                         \
					 : 0};                                           \
	CC_SECTION("license") char cc_license[] = "Dual BSD/GPL"

#endif
