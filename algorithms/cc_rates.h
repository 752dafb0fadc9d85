/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * cc_rates.h - a model of a path by its rates of delivery, for algorithms that send at
 * such a rate (the family of BBR). A rate, `bw`, is in segments per microsecond <<
 * CC_BW_SHIFT. Gains count in 1/256.
 */
#ifndef DUMBBELL_CC_RATES_H
#define DUMBBELL_CC_RATES_H

#include "cc.h"

#define CC_BW_SHIFT 24
#define CC_GAIN_ONE 256u
/* Largest gain for which the arithmetic below is exact. */
#define CC_GAIN_MAX 2047u

/* Rate of some segments in a time above 0. */
static inline u32 cc_bw_of(u32 segs, u64 us)
{
	return cc_saturate(((u64)segs << CC_BW_SHIFT) / us);
}

/* Segments that a rate delivers in a time, rounded down. */
static inline u32 cc_bw_segs(u32 bw, u32 us)
{
	return cc_saturate((u64)bw * us >> CC_BW_SHIFT);
}

/* The bandwidth-delay product times a gain, segments, rounded up. */
static inline u32 cc_bw_product(u32 bw, u32 rtt_us, u32 gain)
{
	u64 product = (u64)bw * rtt_us;

	/* 64 bits hold 2^52 times a gain. */
	if (product >> 52)
		return cc_saturate((product >> CC_BW_SHIFT) * gain / CC_GAIN_ONE + 1);
	product = product * gain / CC_GAIN_ONE;
	return cc_saturate((product + (1u << CC_BW_SHIFT) - 1) >> CC_BW_SHIFT);
}

/* Payload bytes per second at a rate times a gain times `percent` / 100. */
static inline u64 cc_bw_bytes_per_s(const struct cc_conn *conn, u32 bw, u32 gain,
				    u32 percent)
{
	u64 rate = (u64)bw * cc_min(conn->mss_bytes, 0xffff) * gain / CC_GAIN_ONE;
	u64 second = CC_USEC_PER_SEC / 100 * percent;

	/* 64 bits hold 2^43 times the 2^20 of a second. */
	if (rate >> 43)
		return (rate >> CC_BW_SHIFT) * second;
	return rate * second >> CC_BW_SHIFT;
}

/* The rate as it is reported. */
static inline u32 cc_bw_kbit_per_s(const struct cc_conn *conn, u32 bw)
{
	return cc_saturate(cc_bw_bytes_per_s(conn, bw, CC_GAIN_ONE, 100) / 125);
}

/* Return true if a rate sample is valid. */
static inline u8 cc_rate_is_valid(const struct cc_rate_sample *rate)
{
	return rate->delivered_segs >= 0 && rate->interval_us > 0;
}

/* Return true if the sampled segment was sent when `delivered` was reached, or later. */
static inline u8 cc_rate_has_reached(const struct cc_rate_sample *rate, u32 delivered)
{
	return (s32)((u32)rate->prior_delivered_segs - delivered) >= 0;
}

/* Assumed RTT of a new connection. */
#define CC_RATE_UNKNOWN_RTT_US 1000u

/* Pace before any rate is measured: a window per RTT, times a gain. */
static inline void cc_pace_blindly(struct cc_conn *conn, u32 gain, u32 percent)
{
	u32 rtt_us = conn->srtt_us == CC_NO_RTT ? CC_RATE_UNKNOWN_RTT_US
						: cc_max(conn->srtt_us, 1);

	conn->pacing_rate_bytes_per_s =
		cc_bw_bytes_per_s(conn, cc_bw_of(conn->cwnd_segs, rtt_us), gain, percent);
}

/* Set the pacing rate. Until the pipe was full once, it only rises. */
static inline void cc_pace_at(struct cc_conn *conn, u64 rate, u8 may_slow)
{
	if (may_slow || rate > conn->pacing_rate_bytes_per_s)
		conn->pacing_rate_bytes_per_s = rate;
}

/*
 * Segments in flight when pacing releases the next chunk, of the `segs` in flight now and
 * the `chunk_segs` of that chunk.
 */
static inline u32 cc_flight_then(const struct cc_conn *conn, u32 segs, u32 bw,
				 u32 chunk_segs)
{
	u32 gone = cc_bw_segs(bw, conn->pacing_wait_us);

	segs = cc_saturate((u64)segs + chunk_segs);
	return segs > gone ? segs - gone : 0;
}

/* Mark the rate samples of the segments in flight as no measure of the path. */
static inline void cc_distrust_rates(struct cc_conn *conn)
{
	conn->app_limited_segs =
		cc_max((u32)conn->delivered_segs + conn->in_flight_segs, 1);
}

/* Window to restore after a recovery or ProbeRTT. While disturbed, it only rises. */
static inline u32 cc_window_to_keep(const struct cc_conn *conn, u32 kept, u8 undisturbed)
{
	return undisturbed ? conn->cwnd_segs : cc_max(kept, conn->cwnd_segs);
}

static inline u8 cc_is_past(u32 now_ms, u32 then_ms)
{
	return (s32)(now_ms - then_ms) > 0;
}

/*
 * Aggregation: segments that ACKs acknowledge beyond a rate, counted in epochs. An epoch
 * ends when it has no more segments than the rate delivers, or CC_EPOCH_SEGS_MAX of them.
 */
#define CC_EPOCH_SEGS_MAX (1u << 20)

struct cc_epoch {
	u32 start_us;
	u32 segs;
	u32 extra; /* beyond the rate */
};

static inline struct cc_epoch
cc_epoch_after(struct cc_epoch epoch, const struct cc_conn *conn, u32 bw, u32 acked)
{
	u32 expected = cc_bw_segs(bw, (u32)conn->now_us - epoch.start_us);

	if (epoch.segs <= expected || (u64)epoch.segs + acked >= CC_EPOCH_SEGS_MAX) {
		epoch.segs = 0;
		epoch.start_us = (u32)conn->now_us;
		expected = 0;
	}
	epoch.segs = cc_min(cc_saturate((u64)epoch.segs + acked), CC_EPOCH_SEGS_MAX - 1);
	epoch.extra = cc_min(epoch.segs - cc_min(expected, epoch.segs), conn->cwnd_segs);
	return epoch;
}

#endif
