/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sizes and offsets of the C side, for the Rust side to compare with its own. */
#include "cc.h"

#define SIZE(type) sizeof(struct type)
#define AT(type, field) __builtin_offsetof(struct type, field)

extern const u32 dumbbell_layout[];
const u32 dumbbell_layout[] = {
	SIZE(cc_conn),
	AT(cc_conn, pacing_rate_bytes_per_s),
	AT(cc_conn, app_limited_segs),
	AT(cc_conn, now_us),
	AT(cc_conn, lost_segs),
	AT(cc_conn, random),
	AT(cc_conn, state),
	AT(cc_conn, cwnd_limited),
	AT(cc_conn, stack),
	AT(cc_conn, one_way_ticks),
	AT(cc_conn, in_flight_segs),
	SIZE(cc_ack_sample),
	AT(cc_ack_sample, in_flight_bytes),
	SIZE(cc_rate_sample),
	AT(cc_rate_sample, delivered_segs),
	AT(cc_rate_sample, is_app_limited),
	AT(cc_rate_sample, is_ack_delayed),
	SIZE(cc_info),
	SIZE(cc_parameter),
	AT(cc_parameter, step),
	SIZE(cc_preset),
	AT(cc_preset, settings),
	SIZE(cc_algorithm),
	AT(cc_algorithm, name),
	AT(cc_algorithm, info_names),
	AT(cc_algorithm, init),
	AT(cc_algorithm, info),
};
