/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Westwood+: after a loss keep the window that the measured bandwidth fills without a
 * queue.
 *
 * Growth is that of standard TCP. The bandwidth is the data acknowledged in one window
 * of time, divided by that time and smoothed twice. The window of time is as long as
 * the RTT, and at least window_min:
 *
 *     raw   = ((smoothing - 1) raw + sample) / smoothing
 *     bandwidth = ((smoothing - 1) bandwidth + raw) / smoothing
 *
 * Congestion ends with
 *
 *     cwnd = ssthresh = max(bandwidth rtt_min / mss, 2)
 *
 * A loss that no queue caused thus costs nothing. With smoothing 8 the estimate needs
 * some 20 windows to follow a change of the rate. At the end of a fast slow start the
 * estimate is therefore far too small, and so is the window after the first loss.
 *
 * As in Linux: times are in jiffies, the RTT is rounded up, and the bandwidth is in
 * whole bytes per jiffy. Both are therefore coarse on short paths. During recovery the
 * window falls to its half, as that of standard TCP. The end of recovery sets it to
 * the value above. A timeout sets ssthresh alone, and the smallest RTT is measured
 * again. Each duplicate ACK counts as one segment. The cumulative ACK that follows
 * counts only the rest. The first sample sets both filters.
 *
 * As in Linux: the window jumps when recovery ends. The added window leaves as one
 * burst unless the flow is paced. If the queue is shorter than the burst, a part of
 * the burst is lost. One recovery then follows another, at less than half of the rate.
 *
 * Unlike Linux: counts and rates do not wrap at 32 bits. If the clock runs backwards,
 * a new window of time begins, instead of one that hardly ever ends.
 */
#include "cc.h"

#define westwood_parameters(P)                                                         \
	P(smoothing, "samples", 8, CC_RANGE(1, 1024),                                  \
	  "each sample moves either filter by 1 / smoothing of its distance", "Linux") \
	P(window_min, "ms", 50, CC_RANGE(0, 10000),                                    \
	  "shortest time over which the bandwidth is measured",                        \
	  "Linux; Mascolo et al. 2004")

#define westwood_presets(S)                                                      \
	S("brakmo2017", "Brakmo 2017: Westwood of Linux 4.14, which is today's", \
	  CC_SET(westwood, smoothing, 8), CC_SET(westwood, window_min, 50))

#define westwood_hooks(H)         \
	H(westwood, init)         \
	H(westwood, ssthresh)     \
	H(westwood, cong_avoid)   \
	H(westwood, pkts_acked)   \
	H(westwood, cwnd_event)   \
	H(westwood, in_ack_event) \
	H(westwood, info)

/* The RTT until the first sample: no window of time ends before. */
#define WESTWOOD_RTT_UNKNOWN (20 * CC_HZ)

CC_PARAMS(westwood);

struct westwood_state {
	u64 acked_bytes; /* in the current window of time */
	u32 raw;	 /* bytes per jiffy, smoothed once */
	u32 bandwidth;	 /* smoothed twice */
	u32 start;	 /* jiffies, of the current window of time */
	u32 snd_una;	 /* up to where acked_bytes counts */
	u32 counted;	 /* bytes counted for duplicate ACKs, not yet acknowledged */
	u32 rtt;	 /* jiffies, the latest */
	u32 rtt_min;	 /* jiffies */
	u8 begins;	 /* no ACK yet */
	u8 renew_rtt_min;
};

static void westwood_init(const struct westwood_params *params,
			  struct westwood_state *westwood, struct cc_conn *conn)
{
	*westwood = (struct westwood_state){.start = cc_jiffies(conn),
					    .snd_una = conn->snd_una,
					    .rtt = WESTWOOD_RTT_UNKNOWN,
					    .rtt_min = WESTWOOD_RTT_UNKNOWN,
					    .begins = 1,
					    .renew_rtt_min = 1};
}

static u32 westwood_ssthresh(const struct westwood_params *params,
			     struct westwood_state *westwood, const struct cc_conn *conn)
{
	return cc_half_window(conn);
}

static void westwood_cong_avoid(const struct westwood_params *params,
				struct westwood_state *westwood, struct cc_conn *conn,
				u32 acked)
{
	cc_standard_growth(conn, acked);
}

static void westwood_pkts_acked(const struct westwood_params *params,
				struct westwood_state *westwood, struct cc_conn *conn,
				const struct cc_ack_sample *sample)
{
	if (sample->rtt_us > 0)
		westwood->rtt = cc_us_to_jiffies((u32)sample->rtt_us);
}

static u32 westwood_smooth(const struct westwood_params *params, u32 value, u32 sample)
{
	return cc_saturate(((u64)value * (params->smoothing - 1) + sample) /
			   params->smoothing);
}

static void westwood_add_sample(const struct westwood_params *params,
				struct westwood_state *westwood, u32 sample)
{
	if (!westwood->raw && !westwood->bandwidth) {
		westwood->raw = sample;
		westwood->bandwidth = sample;
		return;
	}
	westwood->raw = westwood_smooth(params, westwood->raw, sample);
	westwood->bandwidth = westwood_smooth(params, westwood->bandwidth, westwood->raw);
}

/* End the window of time if it has lasted long enough. */
static void westwood_end_window(const struct westwood_params *params,
				struct westwood_state *westwood,
				const struct cc_conn *conn)
{
	u32 now = cc_jiffies(conn);
	u32 elapsed = now - westwood->start;
	u8 went_back = (s32)elapsed < 0;

	if (!went_back) {
		u32 least = cc_max(westwood->rtt, params->window_min * (CC_HZ / 1000));

		if (!westwood->rtt || elapsed <= least)
			return;
		westwood_add_sample(params, westwood,
				    cc_saturate(westwood->acked_bytes / elapsed));
	}
	westwood->acked_bytes = 0;
	westwood->start = now;
}

/* Bytes for an ACK that may be a duplicate or follow duplicates. */
static u32 westwood_disturbed_bytes(struct westwood_state *westwood,
				    const struct cc_conn *conn)
{
	u32 mss = conn->mss_bytes;
	u32 advance = conn->snd_una - westwood->snd_una;

	if (!advance) {
		westwood->counted = cc_saturate((u64)westwood->counted + mss);
		return mss;
	}
	if (advance <= mss)
		return advance;
	if (westwood->counted >= advance) {
		westwood->counted -= advance;
		return mss;
	}
	advance -= westwood->counted;
	westwood->counted = 0;
	return advance;
}

static void westwood_in_ack_event(const struct westwood_params *params,
				  struct westwood_state *westwood, struct cc_conn *conn,
				  u32 flags)
{
	if (westwood->begins)
		westwood->snd_una = conn->snd_una;
	westwood->begins = 0;
	westwood_end_window(params, westwood, conn);
	if (flags & CC_ACK_SLOWPATH)
		westwood->acked_bytes += westwood_disturbed_bytes(westwood, conn);
	else
		westwood->acked_bytes += conn->snd_una - westwood->snd_una;
	westwood->snd_una = conn->snd_una;
	if (westwood->renew_rtt_min || westwood->rtt < westwood->rtt_min)
		westwood->rtt_min = westwood->rtt;
	westwood->renew_rtt_min = 0;
}

/* Data that the bandwidth carries in the smallest RTT, segments. */
static u32 westwood_share(const struct westwood_state *westwood,
			  const struct cc_conn *conn)
{
	u64 bytes = (u64)westwood->bandwidth * westwood->rtt_min;

	return cc_max(cc_saturate(bytes / cc_max(conn->mss_bytes, 1)), CC_CWND_MIN);
}

static void westwood_cwnd_event(const struct westwood_params *params,
				struct westwood_state *westwood, struct cc_conn *conn,
				u32 event)
{
	switch (event) {
	case CC_EVENT_COMPLETE_CWR:
		conn->ssthresh_segs =
			cc_min(westwood_share(westwood, conn), CC_SSTHRESH_INFINITE);
		conn->cwnd_segs = cc_min(conn->ssthresh_segs, conn->cwnd_clamp_segs);
		break;
	case CC_EVENT_LOSS:
		conn->ssthresh_segs =
			cc_min(westwood_share(westwood, conn), CC_SSTHRESH_INFINITE);
		westwood->renew_rtt_min = 1;
		break;
	}
}

static void westwood_info(const struct westwood_params *params,
			  const struct westwood_state *westwood,
			  const struct cc_conn *conn, struct cc_info *info)
{
	u32 kbit = 8 * CC_HZ / 1000; /* kbit/s of a byte per jiffy */

	info->values[0] = cc_saturate((u64)westwood->bandwidth * kbit);
	info->values[1] = cc_saturate((u64)westwood->raw * kbit);
	info->values[2] = westwood->rtt_min * (1000 / CC_HZ);
	info->values[3] = westwood_share(westwood, conn);
}

/* In figures: Westwood+, #808080, triangle-left. */
CC_ALGORITHM(
	westwood, .title = "TCP Westwood+", .family = CC_FAMILY_LOSS, .year = 2001,
	.source =
		"S. Mascolo et al., TCP Westwood: Bandwidth Estimation for Enhanced "
		"Transport over Wireless Links, MobiCom 2001; L. Grieco, S. Mascolo, "
		"Performance Evaluation and Comparison of Westwood+, New Reno, and Vegas "
		"TCP Congestion Control, CCR 34(2), 2004",
	.summary = "Grows as standard TCP; after a loss it keeps the window that the "
		   "measured bandwidth fills without a queue.",
	.info_names = {"bandwidth_kbit_per_s", "raw_kbit_per_s", "rtt_min_ms",
		       "share_segs"});
