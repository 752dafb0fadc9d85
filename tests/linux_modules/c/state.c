/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* state.c - the congestion state: reductions of the window, repairs and undo. */
#include "sender.h"

uint32_t ssthresh_to_keep(const struct connection *conn)
{
	uint32_t three_quarters = (conn->cwnd >> 1) + (conn->cwnd >> 2);

	if (conn->state == CWR || conn->state == RECOVERY ||
	    conn->ssthresh > three_quarters)
		return conn->ssthresh;
	return three_quarters;
}

/* Call the algorithm before the connection enters the state. */
static void set_state(struct sender *sender, enum state state)
{
	call_hook(sender, SET_STATE, state);
	sender->conn.state = state;
}

static void begin_reduction(struct sender *sender)
{
	struct connection *conn = &sender->conn;

	sender->high = sender->nxt;
	conn->cwnd_cnt = 0;
	conn->prior_cwnd = conn->cwnd;
	sender->prr_delivered = 0;
	sender->prr_sent = 0;
	conn->ssthresh = call_hook(sender, SSTHRESH, 0);
	sender->owes_cwr = 1;
}

static void end_reduction(struct sender *sender)
{
	struct connection *conn = &sender->conn;

	if (has_control(sender))
		return;
	if (conn->ssthresh < SSTHRESH_INFINITE &&
	    (conn->state == CWR || sender->may_undo)) {
		conn->cwnd = conn->ssthresh;
		sender->used_at_us = conn->now_us;
	}
	call_hook(sender, CWND_EVENT, COMPLETE_CWR);
}

/* Watch a reduction, which may prove needless later. */
static void watch_for_undo(struct sender *sender, uint32_t prior_ssthresh)
{
	sender->may_undo = 1;
	sender->prior_ssthresh = prior_ssthresh;
	sender->is_needless =
		draw_between(&sender->spurious, 0, 99) < sender->scenario->spurious;
}

static void undo(struct sender *sender, int unmark_lost)
{
	struct connection *conn = &sender->conn;

	if (unmark_lost)
		lose_nothing(sender);
	if (sender->prior_ssthresh) {
		conn->cwnd = call_hook(sender, UNDO_CWND, 0);
		if (sender->prior_ssthresh > conn->ssthresh) {
			conn->ssthresh = sender->prior_ssthresh;
			sender->owes_cwr = 0;
		}
	}
	sender->used_at_us = conn->now_us;
	sender->may_undo = 0;
}

void enter_cwr(struct sender *sender)
{
	sender->prior_ssthresh = 0;
	if (sender->conn.state >= CWR)
		return;
	sender->may_undo = 0;
	begin_reduction(sender);
	set_state(sender, CWR);
}

static void enter_recovery(struct sender *sender, int ece)
{
	const struct connection *conn = &sender->conn;

	watch_for_undo(sender, 0);
	if (conn->state != CWR && conn->state != RECOVERY) {
		if (!ece)
			sender->prior_ssthresh = ssthresh_to_keep(conn);
		begin_reduction(sender);
	}
	set_state(sender, RECOVERY);
}

void on_timeout(struct sender *sender)
{
	struct connection *conn = &sender->conn;
	int is_new = conn->state < RECOVERY;
	int is_repeated = sender->backoff > 0;

	lose_all(sender);
	if (conn->state <= DISORDER || sender->high <= sender->una ||
	    (conn->state == LOSS && !is_repeated)) {
		uint32_t prior_ssthresh = ssthresh_to_keep(conn);

		conn->prior_cwnd = conn->cwnd;
		conn->ssthresh = call_hook(sender, SSTHRESH, 0);
		call_hook(sender, CWND_EVENT, EVENT_LOSS);
		watch_for_undo(sender, prior_ssthresh);
	}
	conn->cwnd = in_flight(conn) + 1;
	conn->cwnd_cnt = 0;
	sender->used_at_us = conn->now_us;
	set_state(sender, LOSS);
	sender->high = sender->nxt;
	sender->owes_cwr = 1;
	sender->watches_timeout = is_new || is_repeated;
}

/* End the repair: all data outstanding at the reduction is acknowledged. */
static void finish_repair(struct sender *sender)
{
	if (sender->may_undo && sender->is_needless)
		undo(sender, 0);
	set_state(sender, OPEN);
}

static void keep_open(struct sender *sender)
{
	const struct connection *conn = &sender->conn;
	enum state state = conn->sacked_out || conn->lost_out ? DISORDER : OPEN;

	if (conn->state == state)
		return;
	set_state(sender, state);
	sender->high = sender->nxt;
}

static void watch(struct sender *sender, const struct delivery *delivery)
{
	find_losses(sender);
	if (sender->conn.lost_out) {
		enter_recovery(sender, delivery->ece);
		return;
	}
	if (delivery->ece)
		enter_cwr(sender);
	if (sender->conn.state != CWR)
		keep_open(sender);
}

/* F-RTO: data of the window before the timeout was late, not lost, if it arrives. */
static void judge_timeout(struct sender *sender, const struct delivery *delivery)
{
	int is_over = sender->una >= sender->high;
	int is_late = sender->watches_timeout && delivery->original;

	if (sender->may_undo && delivery->advances && (is_late || sender->is_needless)) {
		undo(sender, 1);
		sender->backoff = 0;
		set_state(sender, OPEN);
		return;
	}
	if (is_over)
		finish_repair(sender);
}

void follow_state(struct sender *sender, const struct delivery *delivery)
{
	struct connection *conn = &sender->conn;

	if (delivery->ece)
		sender->prior_ssthresh = 0;
	if (conn->state == CWR && sender->una > sender->high) {
		end_reduction(sender);
		set_state(sender, OPEN);
	} else if (conn->state == RECOVERY && sender->una >= sender->high) {
		finish_repair(sender);
		end_reduction(sender);
	}
	if (conn->state == LOSS) {
		judge_timeout(sender, delivery);
		find_losses(sender);
		if (conn->state == LOSS)
			return;
	}
	if (conn->state == RECOVERY)
		find_losses(sender);
	else
		watch(sender, delivery);
}

/* Proportional rate reduction (RFC 6937). */
void reduce(struct sender *sender, const struct delivery *delivery, uint32_t newly_lost)
{
	struct connection *conn = &sender->conn;
	int64_t room = (int64_t)conn->ssthresh - in_flight(conn);
	int64_t send;

	if (!delivery->delivered)
		return;
	sender->prr_delivered += delivery->delivered;
	if (room < 0) {
		uint64_t share = (uint64_t)conn->ssthresh * sender->prr_delivered;

		share = (share + conn->prior_cwnd - 1) / conn->prior_cwnd;
		send = (int64_t)share - sender->prr_sent;
	} else {
		send = (int64_t)sender->prr_delivered - sender->prr_sent;
		if (send < delivery->delivered)
			send = delivery->delivered;
		if (delivery->advances && !newly_lost)
			send++;
		if (send > room)
			send = room;
	}
	if (send < !sender->prr_sent)
		send = !sender->prr_sent;
	conn->cwnd = (uint32_t)(in_flight(conn) + send);
}
