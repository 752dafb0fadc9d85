/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Plays random calls on algorithms. ALGORITHMS is X(NAME) for each of them. The argument
 * is the property to check:
 *
 *   rules   calls that no stack would make, to be built with the address and undefined
 *           behaviour sanitizers, which end it where a file leaves C's rules
 *   limits  calls as a stack makes them, on odd paths: a window of zero or beyond the
 *           clamp, a write to a field that an algorithm may only read, or a pacing rate
 *           without CC_NEEDS_PACING
 *   repeat  the same calls twice: they must end in the same bytes, whatever the
 *           stack held before
 *
 * Calls are made in a child, so that the parent survives an algorithm's faults. A failing
 * sequence is shortened and printed call by call; then the exit code is 1, or 3 if a hook
 * does not end.
 */
#define CC_VIEW /* filled in here */
#include "cc.h"
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define X(NAME) extern const struct cc_algorithm dumbbell_algorithm_##NAME;
ALGORITHMS
#undef X
#define X(NAME) &dumbbell_algorithm_##NAME,
static const struct cc_algorithm *const algorithms[] = {ALGORITHMS};
#undef X
#define X(NAME) extern const u32 dumbbell_state_bytes_##NAME;
ALGORITHMS
#undef X
#define X(NAME) &dumbbell_state_bytes_##NAME,
static const u32 *const state_bytes[] = {ALGORITHMS};

#define COUNT (sizeof(algorithms) / sizeof(algorithms[0]))

/* Sequences for each algorithm, and steps in each. */
#define SEQUENCES 100
#define STEPS 2000
/* A step takes nanoseconds. A sequence that takes so much processor time never ends. */
#define SEQUENCE_CPU_S_MAX 1
/* A hook may also wait, which takes none. */
#define SEQUENCE_S_MAX 5
/* Most attempts to shorten a sequence. */
#define ATTEMPTS_MAX 600

enum part { RULES, LIMITS, REPEAT };

enum fault { NONE, CRASH, ENDLESS, ZERO, BEYOND, ANSWER, FOREIGN, UNPACED, DIFFERENT };

/* A play: its steps are seeds from which their arguments are drawn. */
struct play {
	const struct cc_algorithm *algorithm;
	u32 params[CC_PARAMETERS_MAX];
	u32 state_bytes;
	u32 clamp_segs;
	u32 stack;
	u32 count;
	u64 steps[STEPS];
};

struct world {
	const struct play *play;
	void *state; /* allocated by itself, so that sanitizers see a write behind it */
	struct cc_conn conn;
	u8 pattern; /* what the stack holds before each call */
};

/* Results that outlive a child. */
struct result {
	u32 sequence;
	u32 step;
	u32 fault;
	u64 calls;
	const char *called; /* the latest that was called */
	char words[160];
};

static struct result *result;
static enum part part;
static u8 verbose;
/* Output for findings, apart from the output of algorithms. */
static FILE *report_file;

/* xorshift64 */
static u64 random_state;

static u32 next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (u32)(random_state >> 16);
}

static void seed_random(u64 seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ull | 1;
	for (u32 i = 0; i < 4; i++)
		next_random();
}

/* Small numbers, any numbers, and those at which signs and sums wrap. */
static u32 any_number(void)
{
	static const u32 edges[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff};

	switch (next_random() % 4) {
	case 0:
		return next_random() % 20;
	case 1:
		return next_random() % 200000;
	case 2:
		return edges[next_random() % (sizeof(edges) / sizeof(edges[0]))];
	default:
		return next_random();
	}
}

/* From 1 to 2^31 - 1. */
static u32 any_window(void)
{
	return cc_clamp(any_number(), 1, CC_SSTHRESH_INFINITE);
}

static void choose_params(const struct cc_algorithm *algorithm, u32 *params)
{
	u8 initial = next_random() % 2;

	for (u32 i = 0; i < algorithm->parameter_count; i++) {
		const struct cc_parameter *row = &algorithm->parameters[i];
		u64 choices = (u64)(row->high - row->low) / row->step + 1;

		params[i] =
			initial ? row->initial
				: row->low + (u32)(any_number() % choices) * row->step;
	}
}

static struct play *make_play(u32 sequence)
{
	static struct play play;

	memset(&play, 0, sizeof(play));
	seed_random(sequence + 1);
	play.algorithm = algorithms[sequence % COUNT];
	play.state_bytes = *state_bytes[sequence % COUNT];
	choose_params(play.algorithm, play.params);
	play.clamp_segs = next_random() % 4 ? CC_SSTHRESH_INFINITE
					    : cc_max(any_window(), CC_CWND_MIN);
	play.stack = next_random() % 4;
	play.count = STEPS;
	for (u32 i = 0; i < STEPS; i++)
		play.steps[i] = (u64)next_random() << 32 | next_random();
	return &play;
}

static void record_fault(enum fault fault, const char *format, const char *hook,
			 u32 number)
{
	if (result->fault != NONE)
		return;
	result->fault = fault;
	snprintf(result->words, sizeof(result->words), format, hook, number);
}

/* Soil the stack: values that a hook finds there must not matter. */
static __attribute__((noinline)) void soil_stack(u8 pattern)
{
	u8 bytes[512];

	memset(bytes, pattern, sizeof(bytes));
	/* Otherwise the compiler removes writes that no code reads. */
	asm volatile("" : : "r"(bytes) : "memory");
}

#define FOREIGN_AT offsetof(struct cc_conn, prior_cwnd_segs)

static void judge(struct world *world, const struct cc_conn *before, const char *hook)
{
	const struct cc_conn *conn = &world->conn;

	if (part != LIMITS)
		return;
	if (memcmp((const u8 *)conn + FOREIGN_AT, (const u8 *)before + FOREIGN_AT,
		   sizeof(*conn) - FOREIGN_AT))
		record_fault(
			FOREIGN,
			"%s writes to a field of cc_conn that it may only read (those "
			"behind the first block)",
			hook, 0);
	if (conn->pacing_rate_bytes_per_s != before->pacing_rate_bytes_per_s &&
	    !(world->play->algorithm->flags & CC_NEEDS_PACING))
		record_fault(UNPACED,
			     "%s sets a pacing rate without CC_NEEDS_PACING, so the "
			     "kernel ignores it",
			     hook, 0);
	if (!conn->cwnd_segs)
		record_fault(ZERO, "%s leaves a window of 0 segments", hook, 0);
	if (conn->cwnd_segs > conn->cwnd_clamp_segs)
		record_fault(BEYOND,
			     "%s leaves a window of %u segments, beyond cwnd_clamp_segs",
			     hook, conn->cwnd_segs);
}

/* Check a hook that returns a window: it must not write to the connection. */
static void judge_query(struct world *world, const struct cc_conn *before,
			const char *hook)
{
	if (part == LIMITS && memcmp(&world->conn, before, sizeof(*before)))
		record_fault(FOREIGN, "%s writes to cc_conn, which it may only read",
			     hook, 0);
}

/* Call a hook once, if the algorithm has it. */
#define CALL(world, hook, ...)                                                       \
	do {                                                                         \
		struct cc_conn before = (world)->conn;                               \
		if ((world)->play->algorithm->hook) {                                \
			soil_stack((world)->pattern);                                \
			result->called = #hook;                                      \
			(world)->play->algorithm->hook((world)->play->params,        \
						       (world)->state, __VA_ARGS__); \
			result->calls++;                                             \
			judge(world, &before, #hook);                                \
		}                                                                    \
	} while (0)

#define TRACE(...)                                            \
	do {                                                  \
		if (verbose)                                  \
			fprintf(report_file, "" __VA_ARGS__); \
	} while (0)

static u32 answered(u32 answer, const char *hook)
{
	result->calls++;
	if (part == LIMITS && (!answer || answer > CC_SSTHRESH_INFINITE))
		record_fault(ANSWER, "%s answers %u segments", hook, answer);
	return answer;
}

static u32 ask_ssthresh(struct world *world)
{
	const struct play *play = world->play;
	struct cc_conn before = world->conn;
	u32 answer;

	soil_stack(world->pattern);
	result->called = "ssthresh";
	answer = play->algorithm->ssthresh(play->params, world->state, &world->conn);
	judge_query(world, &before, "ssthresh");
	return answered(answer, "ssthresh");
}

/* Without the hook, use Reno's, as a stack does. */
static u32 ask_undo(struct world *world)
{
	const struct play *play = world->play;
	const struct cc_conn *conn = &world->conn;
	struct cc_conn before = *conn;
	u32 answer;

	if (!play->algorithm->undo_cwnd)
		return cc_max(conn->cwnd_segs, conn->prior_cwnd_segs);
	soil_stack(world->pattern);
	result->called = "undo_cwnd";
	answer = play->algorithm->undo_cwnd(play->params, world->state, conn);
	judge_query(world, &before, "undo_cwnd");
	return answered(answer, "undo_cwnd");
}

static struct cc_rate_sample any_rate(void)
{
	struct cc_rate_sample rate = {.prior_delivered_segs = any_number(),
				      .interval_us = (s32)any_number(),
				      .delivered_segs = (s32)any_number(),
				      .rtt_us = (s32)any_number(),
				      .losses_segs = any_number(),
				      .acked_sacked_segs = any_number(),
				      .prior_in_flight_segs = any_number(),
				      .is_app_limited = next_random() % 2,
				      .is_ack_delayed = next_random() % 2};

	return rate;
}

/* Make a step that no stack would make. */
static void hostile_step(struct world *world)
{
	struct cc_conn *conn = &world->conn;
	struct cc_ack_sample sample;
	struct cc_rate_sample rate;
	struct cc_info info = {{0}};
	u32 acked = any_number();

	conn->now_us += any_number() % 2000000;
	conn->delivered_segs += any_number() % 1000;
	conn->delivered_ce_segs += any_number() % 1000;
	conn->lost_segs += any_number() % 100;
	conn->prior_cwnd_segs = any_number();
	conn->resent_segs = any_number();
	conn->in_flight_segs = any_number();
	conn->cwnd_limited = next_random() % 8 != 0;
	conn->snd_una += any_number();
	conn->snd_nxt = conn->snd_una + any_number();
	conn->srtt_us = any_number();
	conn->min_rtt_us = any_number();
	conn->pacing_wait_us = any_number();
	conn->stamp_ms = any_number();
	conn->echo_ms = any_number();
	conn->last_sent_ms = any_number();
	conn->random = next_random();
	if (next_random() % 16 == 0) {
		conn->cwnd_segs = any_number();
		conn->cwnd_cnt = any_number();
		conn->ssthresh_segs = any_number();
		conn->cwnd_clamp_segs = any_number();
		conn->mss_bytes = any_number();
		conn->base_rtt_us = any_number();
		conn->now_us = any_number();
	}
	sample = (struct cc_ack_sample){any_number(), (s32)any_number(), any_number()};
	rate = any_rate();
	TRACE("now_us %llu, cwnd %u, cwnd_cnt %u, ssthresh %u, clamp %u, srtt_us %u, "
	      "acked %u, rtt_us %d\n",
	      conn->now_us, conn->cwnd_segs, conn->cwnd_cnt, conn->ssthresh_segs,
	      conn->cwnd_clamp_segs, conn->srtt_us, acked, sample.rtt_us);
	CALL(world, pkts_acked, conn, &sample);
	CALL(world, cong_avoid, conn, acked);
	CALL(world, cong_control, conn, &rate);
	CALL(world, in_ack_event, conn, next_random());
	CALL(world, info, conn, &info);
	switch (next_random() % 8) {
	case 0:
		conn->ssthresh_segs = ask_ssthresh(world);
		break;
	case 1:
		conn->cwnd_segs = ask_undo(world);
		break;
	case 2:
		CALL(world, cwnd_event, conn, next_random() % 6);
		break;
	case 3:
		CALL(world, set_state, conn, next_random() % 5);
		conn->state = next_random() % 5;
		break;
	}
}

/* A wait, mostly as on a path, sometimes of any time. */
static u32 any_wait_us(void)
{
	switch (next_random() % 4) {
	case 0:
		return 0;
	case 1:
		return next_random() % 200;
	case 2:
		return next_random() % 2000000;
	default:
		return any_number();
	}
}

static void acked_step(struct world *world)
{
	struct cc_conn *conn = &world->conn;
	u32 acked = next_random() % 8 ? next_random() % 4 : any_number();
	s32 rtt_us = next_random() % 8 ? (s32)(next_random() % 300000) : -1;
	struct cc_ack_sample sample;
	struct cc_rate_sample rate = any_rate();

	acked = cc_min(acked, CC_SSTHRESH_INFINITE);
	if (next_random() % 16 == 0)
		rtt_us = (s32)(any_number() & CC_SSTHRESH_INFINITE);
	conn->now_us += any_wait_us();
	conn->delivered_segs += acked;
	if (next_random() % 4 == 0)
		conn->delivered_ce_segs += acked;
	conn->snd_una += acked * conn->mss_bytes;
	conn->snd_nxt = conn->snd_una + conn->cwnd_segs * conn->mss_bytes;
	conn->in_flight_segs = next_random() % 4 ? conn->cwnd_segs : any_window();
	conn->cwnd_limited = next_random() % 8 != 0;
	conn->stamp_ms += next_random() % 100;
	conn->echo_ms += next_random() % 100;
	conn->random = next_random();
	if (rtt_us > 0) {
		conn->srtt_us = (u32)rtt_us;
		conn->min_rtt_us = cc_min(conn->min_rtt_us, (u32)rtt_us);
	}
	sample = (struct cc_ack_sample){acked, rtt_us,
					conn->in_flight_segs * conn->mss_bytes};
	TRACE("ack: acked %u, rtt_us %d, now_us %llu, cwnd_limited %u", acked, rtt_us,
	      conn->now_us, conn->cwnd_limited);
	CALL(world, in_ack_event, conn, next_random() % 8);
	CALL(world, pkts_acked, conn, &sample);
	if (world->play->algorithm->cong_control)
		CALL(world, cong_control, conn, &rate);
	else if (conn->state != CC_CWR && conn->state != CC_RECOVERY)
		CALL(world, cong_avoid, conn, acked);
}

static void congested_step(struct world *world)
{
	static const u8 states[] = {CC_CWR, CC_RECOVERY, CC_LOSS};
	struct cc_conn *conn = &world->conn;
	u8 state = states[next_random() % sizeof(states)];

	TRACE("congestion: state %u (2 CWR, 3 Recovery, 4 Loss)", state);
	conn->prior_cwnd_segs = conn->cwnd_segs;
	conn->cwnd_cnt = 0;
	conn->lost_segs += state != CC_CWR;
	conn->ssthresh_segs = ask_ssthresh(world);
	if (state == CC_LOSS) {
		CALL(world, cwnd_event, conn, CC_EVENT_LOSS);
		conn->cwnd_segs = 1;
	}
	CALL(world, set_state, conn, state);
	conn->state = state;
}

static void recovered_step(struct world *world)
{
	struct cc_conn *conn = &world->conn;

	TRACE("recovered");
	if (!world->play->algorithm->cong_control && conn->state != CC_OPEN)
		conn->cwnd_segs = cc_clamp(conn->ssthresh_segs, 1, conn->cwnd_clamp_segs);
	CALL(world, cwnd_event, conn, CC_EVENT_COMPLETE_CWR);
	CALL(world, set_state, conn, CC_OPEN);
	conn->state = CC_OPEN;
}

static void odd_step(struct world *world)
{
	struct cc_conn *conn = &world->conn;
	struct cc_info info = {{0}};
	u32 number = any_number();

	switch (next_random() % 6) {
	case 0:
		TRACE("undo");
		conn->cwnd_segs = cc_clamp(ask_undo(world), 1, conn->cwnd_clamp_segs);
		break;
	case 1:
		TRACE("sending again after %u us", number);
		conn->now_us += number;
		CALL(world, cwnd_event, conn, CC_EVENT_TX_START);
		break;
	case 2:
		conn->cwnd_segs = cc_min(any_window(), conn->cwnd_clamp_segs);
		conn->ssthresh_segs = cc_max(any_window(), CC_CWND_MIN);
		TRACE("window set: cwnd %u", conn->cwnd_segs);
		break;
	case 3:
		TRACE("time goes back by %u us", number);
		conn->now_us -= conn->now_us < number ? conn->now_us : number;
		break;
	case 4:
		TRACE("mark");
		CALL(world, cwnd_event, conn,
		     number % 2 ? CC_EVENT_ECN_IS_CE : CC_EVENT_ECN_NO_CE);
		break;
	default:
		TRACE("info");
		CALL(world, info, conn, &info);
	}
}

/* Make a step as a stack makes it. */
static void plausible_step(struct world *world)
{
	u32 lot = next_random() % 28;

	if (lot < 20)
		acked_step(world);
	else if (lot < 22)
		congested_step(world);
	else if (lot < 24)
		recovered_step(world);
	else
		odd_step(world);
	TRACE(" -> cwnd %u, ssthresh %u\n", world->conn.cwnd_segs,
	      world->conn.ssthresh_segs);
}

static void begin(struct world *world, const struct play *play, u8 pattern)
{
	struct cc_conn *conn = &world->conn;

	free(world->state);
	memset(world, 0, sizeof(*world));
	world->state = calloc(1, play->state_bytes);
	world->play = play;
	world->pattern = pattern;
	conn->cwnd_segs = cc_min(10, play->clamp_segs);
	conn->ssthresh_segs = CC_SSTHRESH_INFINITE;
	conn->cwnd_clamp_segs = play->clamp_segs;
	conn->mss_bytes = 1448;
	conn->srtt_us = CC_NO_RTT;
	conn->min_rtt_us = CC_NO_RTT;
	conn->cwnd_limited = 1;
	conn->stack = (u8)play->stack;
	TRACE("begin: cwnd %u, ssthresh %u, clamp %u, mss %u\n", conn->cwnd_segs,
	      conn->ssthresh_segs, conn->cwnd_clamp_segs, conn->mss_bytes);
	CALL(world, init, conn);
}

/* FNV-1a, by words. */
static u64 hash_bytes(u64 hash, const void *bytes, u64 size)
{
	for (u64 at = 0; at < size; at += sizeof(u64)) {
		u64 word = 0;

		memcpy(&word, (const u8 *)bytes + at,
		       size - at < sizeof(word) ? size - at : sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
	}
	return hash;
}

/* A digest of all memory that an algorithm may write. */
static u64 digest(const struct world *world)
{
	u64 hash = 0xcbf29ce484222325ull;

	hash = hash_bytes(hash, world->state, world->play->state_bytes);
	return hash_bytes(hash, &world->conn, FOREIGN_AT);
}

/* Compare with an earlier play of the same steps, or keep digests for a later one. */
static void check_repeat(const struct world *world, u64 *earlier, u8 again)
{
	u64 now = digest(world);

	if (again && *earlier != now)
		record_fault(
			DIFFERENT,
			"the same calls end in other bytes the second time: a static "
			"variable%s, or memory that was never set",
			"", 0);
	*earlier = now;
}

static void play_steps(const struct play *play, u8 pattern, u64 *digests, u8 again)
{
	static struct world world;

	result->step = 0;
	begin(&world, play, pattern);
	for (u32 i = 0; i < play->count && result->fault == NONE; i++) {
		result->step = i;
		TRACE("%3u. ", i + 1);
		seed_random(play->steps[i]);
		if (part == RULES)
			hostile_step(&world);
		else
			plausible_step(&world);
		if (part == REPEAT)
			check_repeat(&world, &digests[i], again);
	}
}

/* End this process if it runs for so long in processor time, or in all; 0: never. */
static void end_after(u32 cpu_s, u32 total_s)
{
	struct itimerval timer = {.it_value = {.tv_sec = cpu_s}};

	setitimer(ITIMER_PROF, &timer, NULL);
	alarm(total_s);
}

static void play(const struct play *play)
{
	static u64 digests[STEPS];
	u8 was_verbose = verbose;

	end_after(SEQUENCE_CPU_S_MAX, SEQUENCE_S_MAX);
	play_steps(play, 0x00, digests, 0);
	if (part == REPEAT) {
		verbose = 0;
		play_steps(play, 0xa5, digests, 1);
		verbose = was_verbose;
	}
	end_after(0, 0);
}

/* Run `work` in a child; return its fault. */
static enum fault in_child(void (*work)(const struct play *), const struct play *given,
			   u8 quiet)
{
	int status = 0;
	pid_t child;

	result->fault = NONE;
	result->called = "a hook";
	fflush(NULL);
	child = fork();
	if (!child) {
		if (quiet)
			dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		work(given);
		fflush(NULL);
		_exit(result->fault != NONE);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0) {
		perror("fuzz");
		exit(2);
	}
	if (result->fault == NONE && WIFSIGNALED(status)) {
		u8 endless = WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF;

		snprintf(result->words, sizeof(result->words),
			 endless ? "%s does not end%s" : "%s is stopped by: %s",
			 result->called, endless ? "" : strsignal(WTERMSIG(status)));
		result->fault = endless ? ENDLESS : CRASH;
	} else if (result->fault == NONE && status) {
		snprintf(result->words, sizeof(result->words), "a hook leaves C's rules");
		result->fault = CRASH;
	}
	return result->fault;
}

static void play_all(const struct play *none)
{
	for (u32 i = 0; i < SEQUENCES * COUNT && result->fault == NONE; i++) {
		result->sequence = i;
		play(make_play(i));
	}
}

/* Remove steps that the fault does not need. */
static void shorten(struct play *best, enum fault fault)
{
	static struct play candidate;
	u32 attempts = 0;

	best->count = result->step + 1;
	for (u32 chunk = best->count / 2; chunk && attempts < ATTEMPTS_MAX;) {
		u8 shorter = 0;

		for (u32 at = 0; at + chunk <= best->count && attempts < ATTEMPTS_MAX;) {
			candidate = *best;
			candidate.count -= chunk;
			memmove(&candidate.steps[at], &best->steps[at + chunk],
				(best->count - at - chunk) * sizeof(u64));
			attempts++;
			if (in_child(play, &candidate, 1) == fault) {
				*best = candidate;
				shorter = 1;
			} else {
				at += chunk;
			}
		}
		if (!shorter || chunk > 1)
			chunk /= 2;
	}
	candidate = *best;
	for (u32 i = 0; i < best->algorithm->parameter_count; i++)
		candidate.params[i] = best->algorithm->parameters[i].initial;
	if (in_child(play, &candidate, 1) == fault)
		*best = candidate;
}

static void report(struct play *play_found, enum fault fault)
{
	const struct cc_algorithm *algorithm = play_found->algorithm;
	char words[sizeof(result->words)];

	memcpy(words, result->words, sizeof(words));
	/* Shorten an endless loop in one step: each attempt takes the full time. */
	if (fault == ENDLESS)
		play_found->count = result->step + 1;
	else
		shorten(play_found, fault);
	fprintf(report_file, "%s\n", words);
	fprintf(report_file, "%s with", algorithm->name);
	for (u32 i = 0; i < algorithm->parameter_count; i++)
		fprintf(report_file, " %s=%u", algorithm->parameters[i].name,
			play_found->params[i]);
	fprintf(report_file, " stack=%u:\n", play_found->stack);
	verbose = play_found->count <= 40;
	if (!verbose)
		fprintf(report_file, "(%u steps)\n", play_found->count);
	setvbuf(report_file, NULL, _IONBF, 0);
	if (verbose || fault != ENDLESS)
		in_child(play, play_found, 0);
	fprintf(report_file, "\n");
}

int main(int count, char **arguments)
{
	static const char *const names[] = {"rules", "limits", "repeat"};
	enum fault fault;

	if (count != 2)
		return 2;
	while (strcmp(names[part], arguments[1]) != 0)
		if (++part > REPEAT)
			return 2;
	result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	report_file = fdopen(dup(STDOUT_FILENO), "w");
	if (result == MAP_FAILED || !report_file)
		return 2;
	dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	fault = in_child(play_all, NULL, 1);
	if (fault != NONE) {
		report(make_play(result->sequence), fault);
		return fault == ENDLESS ? 3 : 1;
	}
	fprintf(report_file, "%llu calls\n", result->calls);
	return 0;
}
