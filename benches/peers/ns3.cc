// Dumbbell's peers: equal bulk flows over one link in ns-3.
//
// ns3 RATE_BPS RTT_S QUEUE_PACKETS LOSS FLOWS ALGORITHM DURATION_S SEED HOST_BPS
//
// Prints one JSON object: the time of the run by the clock and on the processor, memory before
// and at its peak, and the packets that each receiver got in order. README.md says what is set here and why.

#include <chrono>
#include <cmath>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr uint32_t payload_bytes = 1448;
constexpr uint32_t packet_bytes = 1500;
constexpr uint32_t ppp_bytes = 2;
constexpr uint32_t unlimited = 1000000;

struct Arguments {
	double rate_bps;
	double rtt_s;
	uint32_t queue_packets;
	double loss;
	uint32_t flows;
	std::string algorithm;
	double duration_s;
	uint32_t seed;
	double host_bps;
};

Arguments read(char **text)
{
	return {std::stod(text[1]),
		std::stod(text[2]),
		static_cast<uint32_t>(std::stoul(text[3])),
		std::stod(text[4]),
		static_cast<uint32_t>(std::stoul(text[5])),
		text[6],
		std::stod(text[7]),
		static_cast<uint32_t>(std::stoul(text[8])),
		std::stod(text[9])};
}

uint64_t kib(const std::string &key)
{
	std::ifstream status("/proc/self/status");
	for (std::string word; status >> word;) {
		if (uint64_t value; word == key + ":" && status >> value) {
			return value;
		}
	}
	return 0;
}

void configure_tcp(const Arguments &given)
{
	const bool cubic = given.algorithm == "cubic";
	const auto algorithm = cubic ? TcpCubic::GetTypeId() : TcpLinuxReno::GetTypeId();
	Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(algorithm));
	Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(payload_bytes));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
	Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
	Config::SetDefault("ns3::TcpSocket::DataRetries", UintegerValue(1000000));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

	// Room for a window that slow start doubled beyond what the path holds, and once
	// more for what is sent while the losses of that are repaired.
	const double path_bytes = given.rate_bps * given.rtt_s / 8;
	const double fits = path_bytes + double(given.queue_packets) * packet_bytes;
	const auto buffer_bytes = static_cast<uint32_t>(std::max(4 * fits, 1e6));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer_bytes));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer_bytes));
}

DataRateValue device_rate(double bps)
{
	// A link of ns-3 adds a header to each packet: its rate makes up for that.
	const double scale = double(packet_bytes + ppp_bytes) / packet_bytes;
	return DataRateValue(DataRate(static_cast<uint64_t>(std::round(bps * scale))));
}

QueueSizeValue packets(uint32_t count)
{
	return QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, count));
}

NetDeviceContainer link(const Arguments &given, const NodeContainer &nodes)
{
	PointToPointHelper helper;
	helper.SetDeviceAttribute("DataRate", device_rate(given.rate_bps));
	helper.SetChannelAttribute("Delay", TimeValue(Seconds(given.rtt_s / 2)));
	helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", packets(given.queue_packets));
	auto devices = helper.Install(nodes);
	auto reverse = CreateObject<DropTailQueue<Packet>>();
	reverse->SetAttribute("MaxSize", packets(unlimited));
	DynamicCast<PointToPointNetDevice>(devices.Get(1))->SetQueue(reverse);
	if (given.loss > 0) {
		auto errors = CreateObject<RateErrorModel>();
		errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
		errors->SetRate(given.loss);
		devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
	}
	return devices;
}

// The sender of each flow: the first node of the link, or a host of its own before that.
NodeContainer senders(const Arguments &given, Ptr<Node> first)
{
	NodeContainer hosts;
	if (given.host_bps == 0) {
		for (uint32_t flow = 0; flow < given.flows; ++flow) {
			hosts.Add(first);
		}
		return hosts;
	}
	hosts.Create(given.flows);
	InternetStackHelper().Install(hosts);
	PointToPointHelper helper;
	helper.SetDeviceAttribute("DataRate", device_rate(given.host_bps));
	helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", packets(unlimited));
	Ipv4AddressHelper addresses("10.1.0.0", "255.255.255.0");
	for (auto host = hosts.Begin(); host != hosts.End(); ++host) {
		const auto devices = helper.Install(*host, first);
		addresses.Assign(devices);
		addresses.NewNetwork();
		TrafficControlHelper().Uninstall(devices);
	}
	return hosts;
}

} // namespace

int main(int count, char **text)
{
	if (count != 10) {
		std::cerr << "needs the nine arguments that ns3.cc begins with\n";
		return 2;
	}
	const Arguments given = read(text);
	RngSeedManager::SetSeed(given.seed);
	configure_tcp(given);

	NodeContainer nodes(2);
	const auto devices = link(given, nodes);
	InternetStackHelper().Install(nodes);
	Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
	const auto interfaces = addresses.Assign(devices);
	// The device's queue is the bottleneck's, so nothing may wait before it.
	TrafficControlHelper().Uninstall(devices);
	const auto hosts = senders(given, nodes.Get(0));
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();

	std::vector<Ptr<PacketSink>> sinks;
	for (uint32_t flow = 0; flow < given.flows; ++flow) {
		const InetSocketAddress to(interfaces.GetAddress(1), 5000 + flow);
		PacketSinkHelper sink("ns3::TcpSocketFactory", to);
		sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(1)).Get(0)));
		BulkSendHelper source("ns3::TcpSocketFactory", to);
		source.SetAttribute("SendSize", UintegerValue(payload_bytes));
		source.Install(hosts.Get(flow)).Start(MilliSeconds(100 * flow));
	}

	Simulator::Stop(Seconds(given.duration_s));
	const uint64_t before_kib = kib("VmHWM");
	const auto begin = std::chrono::steady_clock::now();
	const std::clock_t ticks = std::clock();
	Simulator::Run();
	const double processor_s = double(std::clock() - ticks) / CLOCKS_PER_SEC;
	const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;

	std::cout << "{\"wall_s\": " << wall.count() << ", \"processor_s\": " << processor_s
		  << ", \"before_kib\": " << before_kib << ", \"peak_kib\": " << kib("VmHWM") << ", \"packets\": [";
	for (size_t flow = 0; flow < sinks.size(); ++flow) {
		std::cout << (flow ? "," : "") << sinks[flow]->GetTotalRx() / payload_bytes;
	}
	std::cout << "]}\n";
	Simulator::Destroy();
}
