/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * kernel_stub.h - the part of a kernel that Linux's congestion-control modules need.
 * Every header that they include leads here. None of it is Linux's text, only its names
 * and meanings, since the modules use them. Functions of the kernel that they call are
 * cut out of its own files when the target runs (kernel_functions.h).
 */
#ifndef LINUX_MODULES_KERNEL_STUB_H
#define LINUX_MODULES_KERNEL_STUB_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16;
typedef uint32_t u32, __u32;
typedef uint64_t u64, __u64;
typedef int8_t s8;
typedef int32_t s32, __s32;
typedef int64_t s64;

#define U16_MAX UINT16_MAX
#define U32_MAX UINT32_MAX
#define U32_C UINT32_C
#define HZ 1000
#define USEC_PER_MSEC 1000ul
#define USEC_PER_SEC 1000000ul
#define NSEC_PER_USEC 1000ul
#define TCP_TS_HZ 1000

/* Macros of modules, and the kernel's checks. */
#define __init
#define __exit
#define __pure
#define __read_mostly
#define __bpf_kfunc
#define THIS_MODULE NULL
#define module_init(function)                                \
	static void __attribute__((constructor)) start(void) \
	{                                                    \
		if (function() < 0)                          \
			abort();                             \
	}
#define module_exit(function) static void __attribute__((unused)) (*stop)(void) = function
#define module_param(...)
#define module_param_cb(...)
#define MODULE_PARM_DESC(...)
#define MODULE_AUTHOR(...)
#define MODULE_LICENSE(...)
#define MODULE_DESCRIPTION(...)
#define MODULE_VERSION(...)
#define MODULE_ALIAS(...)
#define EXPORT_SYMBOL(...)
#define EXPORT_SYMBOL_GPL(...)
#define BTF_KFUNCS_START(ids) static int __attribute__((unused)) ids;
#define BTF_KFUNCS_END(ids)
#define BTF_ID_FLAGS(...)
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define WARN_ONCE(condition, ...) (void)(condition)
#define WARN_ON_ONCE(condition) ((condition) ? abort() : (void)0)
#define NET_INC_STATS(...)
#define NET_ADD_STATS(...)
#define pr_debug(...)
#define READ_ONCE(place) (place)
#define WRITE_ONCE(place, value) ((place) = (value))
#define cmpxchg(place, old, new) (*(place) == (old) ? (void)(*(place) = (new)) : (void)0)
#define likely(condition) (condition)
#define unlikely(condition) (condition)

struct kernel_param;
struct kernel_param_ops {
	int (*set)(const char *, const struct kernel_param *);
	int (*get)(char *, const struct kernel_param *);
};
#define param_get_uint NULL
#define param_set_uint_minmax(...) 0

struct btf_kfunc_id_set {
	void *owner;
	void *set;
};
#define BPF_PROG_TYPE_STRUCT_OPS 0
#define register_btf_kfunc_id_set(...) 0

/* Arithmetic. */
#define min(a, b)                     \
	({                            \
		__auto_type a_ = (a); \
		__auto_type b_ = (b); \
		a_ < b_ ? a_ : b_;    \
	})
#define max(a, b)                     \
	({                            \
		__auto_type a_ = (a); \
		__auto_type b_ = (b); \
		a_ > b_ ? a_ : b_;    \
	})
#define max3(a, b, c) max(max(a, b), c)
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define clamp(value, low, high) min(max(value, low), high)
#define min_not_zero(a, b)                         \
	({                                         \
		__auto_type x_ = (a);              \
		__auto_type y_ = (b);              \
		!x_ ? y_ : !y_ ? x_ : min(x_, y_); \
	})
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define DIV_ROUND_CLOSEST(value, by) \
	((value) < 0 ? ((value) - (by) / 2) / (by) : ((value) + (by) / 2) / (by))
#define is_power_of_2(value) ((value) > 0 && !((value) & ((value) - 1)))
#define do_div(value, by)                          \
	({                                         \
		u32 rest_ = (u32)((value) % (by)); \
		(value) /= (by);                   \
		rest_;                             \
	})
#define div_u64(value, by) ((u64)(value) / (u32)(by))
#define div64_u64(value, by) ((u64)(value) / (u64)(by))
#define div64_ul(value, by) ((u64)(value) / (unsigned long)(by))
#define div64_long(value, by) ((s64)(value) / (long)(by))
#define fls64(value) ((value) ? 64 - __builtin_clzll(value) : 0)
#define after(a, b) before(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)

/* The clock, which the driver sets. Durations become ticks rounded up. */
extern u64 kernel_now_us;
#define jiffies ((unsigned long)(kernel_now_us / (USEC_PER_SEC / HZ)))
#define tcp_jiffies32 ((u32)jiffies)
#define usecs_to_jiffies(us) (((us) + (USEC_PER_SEC / HZ - 1)) / (USEC_PER_SEC / HZ))
#define msecs_to_jiffies(ms) ((unsigned long)(ms) * HZ / 1000)
#define jiffies_to_usecs(ticks) ((u32)(ticks) * (u32)(USEC_PER_SEC / HZ))

/* Random numbers, which the driver also sets. */
extern u32 kernel_random;
#define get_random_u32() kernel_random
#define get_random_u32_below(count) ((u32)((u64)kernel_random * (count) >> 32))
#define get_random_bytes(place, size) memcpy(place, &kernel_random, size)

#define GFP_NOWAIT 0
#define __GFP_NOWARN 0
#define kcalloc(count, size, flags) calloc(count, size)
#define kfree free

#include <linux/win_minmax.h>

#include "sock_stub.h"
#include "kernel_functions.h"

#endif
