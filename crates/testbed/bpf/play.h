/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * play.h - calls an algorithm's hooks for user space, without a socket.
 *
 * It is included behind adapter.h (clang -target bpf -include adapter.h -include play.h).
 * It replaces the adapter's programs by one, which user space runs (BPF_PROG_TEST_RUN).
 * This program makes the call of a struct cc_record and fills in the outcome. The hooks
 * are the same functions as in a connection, and run in the kernel.
 */
#ifndef DUMBBELL_PLAY_H
#define DUMBBELL_PLAY_H

#define CC_PLAY(hook, ...)                                                          \
	do {                                                                        \
		if (cc_this.hook)                                                   \
			cc_this.hook(cc_params(), call.memory.state,                \
				     &call.memory.conn __VA_OPT__(, ) __VA_ARGS__); \
	} while (0)

CC_INLINE u64 cc_played(struct cc_record *record)
{
	struct cc_call call = {.memory = record->before, .argument = record->argument};
	struct cc_conn *conn = &call.memory.conn;
	u32 segs = 0;

	switch (record->hook) {
	case CC_ON_INIT:
		CC_PLAY(init);
		break;
	case CC_ON_SSTHRESH:
		segs = cc_this.ssthresh(cc_params(), call.memory.state, conn);
		break;
	case CC_ON_CONG_AVOID:
		CC_PLAY(cong_avoid, call.argument.number);
		break;
	case CC_ON_PKTS_ACKED:
		CC_PLAY(pkts_acked, &call.argument.ack);
		break;
	case CC_ON_CWND_EVENT:
		CC_PLAY(cwnd_event, call.argument.number);
		break;
	case CC_ON_SET_STATE:
		CC_PLAY(set_state, call.argument.number);
		break;
	case CC_ON_IN_ACK_EVENT:
		CC_PLAY(in_ack_event, call.argument.number);
		break;
	case CC_ON_UNDO_CWND:
		segs = cc_this.undo_cwnd
			       ? cc_this.undo_cwnd(cc_params(), call.memory.state, conn)
			       : cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
		break;
	case CC_ON_CONG_CONTROL:
		CC_PLAY(cong_control, &call.argument.rate);
		break;
	}
	record->result = segs;
	record->after = call.memory;
	return 0;
}

#undef CC_STRUCT_OPS
#define CC_STRUCT_OPS(NAME, ...)                                    \
	CC_SECTION(".rodata.dumbbell")                              \
	const volatile struct cc_settings cc_settings = {           \
		.params = {NAME##_parameters(CC_INITIAL)}};         \
	CC_SECTION("syscall") u64 cc_play(struct cc_record *record) \
	{                                                           \
		return cc_played(record);                           \
	}                                                           \
	CC_SECTION("license") char cc_license[] = "Dual BSD/GPL"

#endif
