// Which texts the keys of configuration files accept. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/map_reader.h"

namespace spindrift::config {

extern const TextRule kNodeName;  // of nodes, peers, rules, classes
extern const TextRule kSegmentName;
extern const TextRule kPattern;     // shell pattern
extern const TextRule kDeviceName;  // of an interface or NIC
extern const TextRule kIpAddress;
extern const TextRule kLoopbackAddress;
extern const TextRule kEndpoint;    // "IP:PORT", "[IPv6]:PORT"
extern const TextRule kSubnet;      // "10.0.2.1/24"
extern const TextRule kPciAddress;  // "0000:3b:00.0"
extern const TextRule kFilePath;
extern const TextRule kAlgorithm;  // of congestion control
extern const TextRule kSentence;   // anything printable on one line
extern const TextRule kSecret;

// Of a valid IP address, without brackets or prefix.
bool is_loopback(std::string_view address);

}  // namespace spindrift::config
