/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * sock_stub.h - the fields of a TCP socket that Linux's congestion-control modules use.
 */
#ifndef LINUX_MODULES_SOCK_STUB_H
#define LINUX_MODULES_SOCK_STUB_H

enum tcp_ca_state {
	TCP_CA_Open,
	TCP_CA_Disorder,
	TCP_CA_CWR,
	TCP_CA_Recovery,
	TCP_CA_Loss,
	TCPF_CA_Open = 1 << TCP_CA_Open,
	TCPF_CA_Disorder = 1 << TCP_CA_Disorder,
	TCPF_CA_CWR = 1 << TCP_CA_CWR,
	TCPF_CA_Recovery = 1 << TCP_CA_Recovery,
};

enum tcp_ca_event {
	CA_EVENT_TX_START,
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum tcp_ca_ack_event_flags {
	CA_ACK_SLOWPATH = 1,
	CA_ACK_WIN_UPDATE = 2,
	CA_ACK_ECE = 4,
};

#define TCP_INFINITE_SSTHRESH 0x7fffffff
#define TCP_CA_NAME_MAX 16
#define TCP_INIT_CWND 10
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2
#define ICSK_CA_PRIV_SIZE 104
#define GSO_LEGACY_MAX_SIZE 65536u
/* Room for headers before a segment, as on x86-64 with Debian's configuration. */
#define MAX_TCP_HEADER 320
enum { SK_PACING_NONE, SK_PACING_NEEDED };
enum { TCP_ECN_OK = 1, TCP_ECN_DEMAND_CWR = 4 };
enum { ICSK_ACK_TIMER = 1, ICSK_ACK_NOW = 2 };
enum { TCP_LISTEN = 10, TCP_CLOSE = 7 };

struct sock;

struct ack_sample {
	u32 pkts_acked;
	s32 rtt_us;
	u32 in_flight;
};

struct rate_sample {
	u32 prior_delivered;
	s32 delivered;
	long interval_us;
	long rtt_us;
	int losses;
	u32 acked_sacked;
	u32 prior_in_flight;
	bool is_app_limited;
	bool is_ack_delayed;
};

union tcp_cc_info;

struct tcp_congestion_ops {
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event event);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	u32 (*min_tso_segs)(struct sock *sk);
	void (*cong_control)(struct sock *sk, u32 ack, int flag,
			     const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
	u32 (*sndbuf_expand)(struct sock *sk);
	size_t (*get_info)(struct sock *sk, u32 ext, int *attr, union tcp_cc_info *info);
	char name[TCP_CA_NAME_MAX];
	void *owner;
	u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

struct sock {
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	u32 sk_pacing_status;
	u32 sk_gso_max_size;
	u8 sk_pacing_shift;
	u8 sk_state;
};

struct inet_connection_sock {
	struct sock sock;
	const struct tcp_congestion_ops *icsk_ca_ops;
	u8 icsk_ca_state;
	struct {
		u8 pending;
	} icsk_ack;
	u64 icsk_ca_priv[ICSK_CA_PRIV_SIZE / sizeof(u64)];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_cnt;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 snd_una;
	u32 snd_nxt;
	u32 rcv_nxt;
	u32 mss_cache;
	u32 srtt_us; /* in 1/8 us */
	struct minmax rtt_min;
	u32 delivered;
	u32 delivered_ce;
	u32 lost;
	u32 app_limited;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 max_packets_out;
	u32 lsndtime;
	u64 tcp_mstamp;
	u64 delivered_mstamp;
	u64 tcp_clock_cache; /* ns */
	u64 tcp_wstamp_ns;
	u8 is_cwnd_limited;
	u8 ecn_flags;
	u8 tcp_usec_ts;
	struct {
		u32 rcv_tsval;
		u32 rcv_tsecr;
	} rx_opt;
};

#define inet_csk(sk) ((struct inet_connection_sock *)(sk))
#define inet_csk_ca(sk) ((void *)inet_csk(sk)->icsk_ca_priv)
#define tcp_sk(sk) ((struct tcp_sock *)(sk))
#define tcp_time_stamp_ts(tp) ((u32)((tp)->tcp_mstamp / USEC_PER_MSEC))

int tcp_register_congestion_control(struct tcp_congestion_ops *ops);
void tcp_unregister_congestion_control(struct tcp_congestion_ops *ops);
void tcp_enter_cwr(struct sock *sk);

/* Exported by the kernel to its modules. */
u32 tcp_slow_start(struct tcp_sock *tp, u32 acked);
void tcp_cong_avoid_ai(struct tcp_sock *tp, u32 w, u32 acked);
void tcp_reno_cong_avoid(struct sock *sk, u32 ack, u32 acked);
u32 tcp_reno_ssthresh(struct sock *sk);
u32 tcp_reno_undo_cwnd(struct sock *sk);

/* DCTCP as a receiver, and its other paths on loss. None affects the sender's window. */
struct tcp_plb_state {
	u8 rounds;
	u32 pause_until;
};
#define TCP_PLB_SCALE 8
#define tcp_plb_init(...)
#define tcp_plb_update_state(...)
#define tcp_plb_check_rehash(...)
#define tcp_plb_update_state_upon_rto(...)
#define INET_ECN_dontxmit(sk)
#define __tcp_send_ack(...)

/* No BPF program sets a base RTT for NV. */
#define tcp_call_bpf(...) (-1)
#define BPF_SOCK_OPS_BASE_RTT 0

/* Reports of modules for ss(8). */
#define INET_DIAG_VEGASINFO 3
#define INET_DIAG_DCTCPINFO 9
#define INET_DIAG_BBRINFO 16
struct tcpvegas_info {
	u32 tcpv_enabled, tcpv_rttcnt, tcpv_rtt, tcpv_minrtt;
};
union tcp_cc_info {
	struct tcpvegas_info vegas;
	struct {
		u16 dctcp_enabled, dctcp_ce_state;
		u32 dctcp_alpha, dctcp_ab_ecn, dctcp_ab_tot;
	} dctcp;
	struct {
		u32 bbr_bw_lo, bbr_bw_hi, bbr_min_rtt, bbr_pacing_gain, bbr_cwnd_gain;
	} bbr;
};

#endif
