# Dumbbell's peers: equal bulk flows over one link in ns-2, with TCP/Linux senders.
#
# ns ns2.tcl RATE_BPS RTT_S QUEUE_PACKETS LOSS FLOWS ALGORITHM DURATION_S SEED HOST_BPS
#
# Prints one JSON object: the time of the run by the clock and on the processor, memory before
# and at its peak, and the packets that each receiver got in order. README.md says what is set here and why.

lassign $argv rate rtt queue loss flows algorithm duration seed host_rate
set payload 1448
set headers 52

proc kib {key} {
    set status [open /proc/self/status]
    regexp "$key:\\s+(\\d+)" [read $status] -> value
    close $status
    return $value
}

proc processor_s {} {
    set schedule [open /proc/self/schedstat]
    set ns [lindex [read $schedule] 0]
    close $schedule
    return [expr {$ns / 1e9}]
}

# Only the headers that are used: ns-2 clears each that it knows in each packet.
remove-all-packet-headers
add-packet-header IP TCP Flags
ns-random $seed
set ns [new Simulator]

set sender [$ns node]
set receiver [$ns node]
$ns duplex-link $sender $receiver $rate [expr {$rtt / 2.0}] DropTail
# DropTail refuses the packet that would make its length equal to the limit.
$ns queue-limit $sender $receiver [expr {$queue + 1}]
$ns queue-limit $receiver $sender 1000000
if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit packet
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $sender $receiver
}

Agent/TCP set packetSize_ $payload
Agent/TCP set tcpip_base_hdr_size_ $headers
Agent/TCP set timestamps_ true
Agent/TCP set ts_option_size_ 0 ;# counted in the 52 bytes already
Agent/TCP set window_ 10000000
Agent/TCP set windowInit_ 10
Agent/TCP set windowInitOption_ 1
Agent/TCP set tcpTick_ 0.001
Agent/TCPSink set packetSize_ $headers
Agent/TCPSink/Sack1/DelAck set interval_ 40ms
Agent/TCPSink set ts_echo_rfc1323_ true
Agent/TCPSink set maxSackBlocks_ 3

for {set index 0} {$index < $flows} {incr index} {
    set tcp [new Agent/TCP/Linux]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    set host $sender
    if {$host_rate > 0} {
        set host [$ns node]
        $ns duplex-link $host $sender $host_rate 0 DropTail
        $ns queue-limit $host $sender 1000000
        $ns queue-limit $sender $host 1000000
    }
    $ns attach-agent $host $tcp
    $ns attach-agent $receiver $sink
    $ns connect $tcp $sink
    set source [new Application/FTP]
    $source attach-agent $tcp
    set start [expr {0.1 * $index}]
    $ns at $start "$tcp select_ca $algorithm"
    $ns at $start "$tcp set_ca_default_param linux sysctl_tcp_abc 2"
    if {$algorithm eq "cubic"} {
        $ns at $start "$tcp set_ca_default_param cubic beta 717"
    }
    $ns at $start "$source start"
    lappend senders $tcp
}

proc finish {} {
    global begin_us begin_s before senders
    set wall [expr {([clock microseconds] - $begin_us) / 1e6}]
    set processor [expr {[processor_s] - $begin_s}]
    foreach tcp $senders {
        lappend packets [expr {[$tcp set ack_] + 1}]
    }
    puts "{\"wall_s\": $wall, \"processor_s\": $processor,\
          \"before_kib\": $before, \"peak_kib\": [kib VmHWM], \"packets\": \[[join $packets ,]\]}"
    exit 0
}

$ns at $duration finish
set before [kib VmHWM]
set begin_s [processor_s]
set begin_us [clock microseconds]
$ns run
