/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_watch.h - the two RTTs from which the family of Vegas estimates its backlog. One is
 * the smallest RTT ever, which is assumed to be that of the empty path. The other is the
 * smallest RTT of a round trip.
 */
#ifndef DUMBBELL_CC_WATCH_H
#define DUMBBELL_CC_WATCH_H

#include "cc.h"

/* Samples that a round trip needs: the receiver may delay two ACKs. */
#define CC_WATCH_SAMPLES 3u

struct cc_watch {
	u32 base_us;  /* smallest ever; CC_NO_RTT: none */
	u32 round_us; /* smallest of this round trip; CC_NO_RTT: none */
	u32 round_end_seq;
	u32 samples; /* of this round trip, up to CC_WATCH_SAMPLES */
	u32 is_on;   /* false outside of state Open, whose samples do not count */
};

static inline void cc_watch_round(struct cc_watch *watch, const struct cc_conn *conn)
{
	watch->round_us = CC_NO_RTT;
	watch->round_end_seq = conn->snd_nxt;
	watch->samples = 0;
}

static inline void cc_watch_start(struct cc_watch *watch, const struct cc_conn *conn)
{
	watch->base_us = CC_NO_RTT;
	watch->is_on = 1;
	cc_watch_round(watch, conn);
}

/* For set_state. */
static inline void cc_watch_state(struct cc_watch *watch, const struct cc_conn *conn,
				  u32 new_state)
{
	watch->is_on = new_state == CC_OPEN;
	if (watch->is_on)
		cc_watch_round(watch, conn);
}

/* For cwnd_event: after idle time the path may have changed. */
static inline void cc_watch_event(struct cc_watch *watch, const struct cc_conn *conn,
				  u32 event)
{
	if (event == CC_EVENT_TX_START || event == CC_EVENT_CWND_RESTART)
		cc_watch_start(watch, conn);
}

/* For pkts_acked. As in Linux a microsecond is added, so that no RTT is 0. */
static inline void cc_watch_rtt(struct cc_watch *watch,
				const struct cc_ack_sample *sample)
{
	u32 rtt_us = (u32)sample->rtt_us + 1;

	if (sample->rtt_us < 0)
		return;
	watch->base_us = cc_min(watch->base_us, rtt_us);
	watch->round_us = cc_min(watch->round_us, rtt_us);
	watch->samples = cc_min(watch->samples + 1, CC_WATCH_SAMPLES);
}

static inline u8 cc_watch_round_is_over(const struct cc_watch *watch,
					const struct cc_conn *conn)
{
	return cc_seq_after(conn->snd_una, watch->round_end_seq);
}

static inline u8 cc_watch_can_tell(const struct cc_watch *watch)
{
	return watch->samples >= CC_WATCH_SAMPLES;
}

/* For info: 0 while there is none. */
static inline u32 cc_watch_base_us(const struct cc_watch *watch)
{
	return watch->base_us == CC_NO_RTT ? 0 : watch->base_us;
}

/* Segments of a window that wait in queues while the RTT is `rtt_us`. */
static inline u32 cc_backlog(u32 segs, u32 base_us, u32 rtt_us)
{
	return rtt_us > base_us ? cc_scale(segs, rtt_us - base_us, rtt_us) : 0;
}

#endif
