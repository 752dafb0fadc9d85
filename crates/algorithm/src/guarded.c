/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hooks that call those of a user-defined algorithm and leave one that never returns
 * (guarded.rs).
 *
 * A thread that calls them gets a timer of its own processor time, with a signal. The
 * signal's handler looks whether the thread is still in the call of the last look. After
 * LOOKS of them it jumps back to the hook here, so only frames of the algorithm's C code
 * are left. Nothing is asked of the system in a call. The timer rests while no hook is
 * called.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cc.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define LOOKS 10
#define NS_PER_US 1000
#define NS_PER_S 1000000000ull

void dumbbell_guarded_limit(u64 limit_us);
const char *dumbbell_guarded_stalled(const char **algorithm);
extern const struct cc_algorithm dumbbell_guarded_hooks;

struct guard {
	sigjmp_buf back;
	const struct cc_algorithm *algorithm; /* whose hook is called */
	const char *volatile hook;	      /* its name; null: none is called */
	const char *stalled;		      /* the hook that was left; null: none */
	volatile u64 calls;
	u64 seen; /* calls at the last look */
	u32 looks;
	timer_t timer;
	volatile u8 ticks;
	u8 has_timer;
};

static _Thread_local struct guard guard;
static u64 limit_ns = 10 * NS_PER_S;
static int look_signal;
static pthread_key_t at_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void set_timer(u64 interval_ns)
{
	struct timespec interval = {.tv_sec = (time_t)(interval_ns / NS_PER_S),
				    .tv_nsec = (long)(interval_ns % NS_PER_S)};
	struct itimerspec times = {.it_value = interval, .it_interval = interval};

	timer_settime(guard.timer, 0, &times, 0);
	guard.ticks = interval_ns > 0;
}

static void look(int number)
{
	if (guard.calls != guard.seen) {
		guard.seen = guard.calls;
		guard.looks = 0;
	} else if (!guard.hook) {
		set_timer(0);
	} else if (++guard.looks >= LOOKS) {
		siglongjmp(guard.back, 1);
	}
}

static void end_timer(void *unused)
{
	timer_delete(guard.timer);
}

/* A forked process has no timers. */
static void forget_timer(void)
{
	guard.has_timer = guard.ticks = 0;
}

/* Take the last signal that nobody else has a handler for. */
static void prepare(void)
{
	struct sigaction action = {.sa_handler = look,
				   .sa_flags = SA_RESTART | SA_NODEFER};

	for (int number = SIGRTMAX; number >= SIGRTMIN && !look_signal; number--) {
		struct sigaction before;

		if (sigaction(number, 0, &before) == 0 && before.sa_handler == SIG_DFL &&
		    sigaction(number, &action, 0) == 0)
			look_signal = number;
	}
	if (pthread_key_create(&at_end, end_timer) != 0 ||
	    pthread_atfork(0, 0, forget_timer) != 0)
		look_signal = 0;
}

/* Begin to look at this thread. Without timers or signals no call is ever left. */
static __attribute__((noinline)) void begin_looks(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID};

	pthread_once(&once, prepare);
	guard.ticks = 1;
	if (!guard.has_timer && look_signal) {
		event.sigev_signo = look_signal;
		event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
		guard.has_timer =
			timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &guard.timer) == 0;
		if (guard.has_timer)
			pthread_setspecific(at_end, &guard);
	}
	if (guard.has_timer)
		set_timer(limit_ns / LOOKS);
}

static __attribute__((noinline)) void left(void)
{
	guard.stalled = guard.hook;
	guard.hook = 0;
	guard.looks = 0;
}

/* The algorithm behind the parameters of a guarded instance. */
static const struct cc_algorithm *behind(const void *params)
{
	const struct cc_algorithm *algorithm;

	memcpy(&algorithm, (const u32 *)params + CC_PARAMETERS_MAX, sizeof(algorithm));
	return algorithm;
}

/* Make a call, unless an earlier one was left. */
#define GUARDED(name, call)                          \
	do {                                         \
		if (guard.stalled)                   \
			break;                       \
		if (!guard.ticks)                    \
			begin_looks();               \
		guard.algorithm = behind(params);    \
		guard.calls++;                       \
		if (sigsetjmp(guard.back, 0) == 0) { \
			guard.hook = name;           \
			call;                        \
			guard.hook = 0;              \
		} else {                             \
			left();                      \
		}                                    \
	} while (0)

static void guarded_init(const void *params, void *state, struct cc_conn *conn)
{
	GUARDED("init", guard.algorithm->init(params, state, conn));
}

/* The window of an answer that never came does not matter: the run ends. */
#define GUARDED_ANSWER(hook)                                                         \
	static u32 guarded_##hook(const void *params, void *state,                   \
				  const struct cc_conn *conn)                        \
	{                                                                            \
		volatile u32 window = CC_CWND_MIN;                                   \
                                                                                     \
		GUARDED(#hook, window = guard.algorithm->hook(params, state, conn)); \
		return window;                                                       \
	}

#define GUARDED_INPUT(hook, type)                                                  \
	static void guarded_##hook(const void *params, void *state,                \
				   struct cc_conn *conn, type input)               \
	{                                                                          \
		GUARDED(#hook, guard.algorithm->hook(params, state, conn, input)); \
	}

GUARDED_ANSWER(ssthresh)
GUARDED_ANSWER(undo_cwnd)
GUARDED_INPUT(cong_avoid, u32)
GUARDED_INPUT(pkts_acked, const struct cc_ack_sample *)
GUARDED_INPUT(cwnd_event, u32)
GUARDED_INPUT(set_state, u32)
GUARDED_INPUT(in_ack_event, u32)
GUARDED_INPUT(cong_control, const struct cc_rate_sample *)

static void guarded_info(const void *params, const void *state,
			 const struct cc_conn *conn, struct cc_info *info)
{
	GUARDED("info", guard.algorithm->info(params, state, conn, info));
}

/* All hooks; the table of an algorithm takes those that it has. */
const struct cc_algorithm dumbbell_guarded_hooks = {
	.init = guarded_init,
	.ssthresh = guarded_ssthresh,
	.cong_avoid = guarded_cong_avoid,
	.pkts_acked = guarded_pkts_acked,
	.cwnd_event = guarded_cwnd_event,
	.set_state = guarded_set_state,
	.in_ack_event = guarded_in_ack_event,
	.undo_cwnd = guarded_undo_cwnd,
	.cong_control = guarded_cong_control,
	.info = guarded_info,
};

/* Set the processor time of a call in all threads that begin later, or rest now. */
void dumbbell_guarded_limit(u64 limit_us)
{
	limit_ns = limit_us * NS_PER_US;
}

/* Return the hook that was left in this thread and its algorithm, once; null: none. */
const char *dumbbell_guarded_stalled(const char **algorithm)
{
	const char *hook = guard.stalled;

	if (hook)
		*algorithm = guard.algorithm->name;
	guard.stalled = 0;
	return hook;
}
