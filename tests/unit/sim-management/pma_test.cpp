// The performance agent by itself: which bit of a mask resets which register.
#include "sim-backend/agents/pma.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "smd/mad/port_counters.h"
#include "tests/unit/sim-management/examples.h"

namespace smd::sim::test {
namespace pma_test {

using Names = std::vector<std::string>;
using Data = std::span<std::byte, kPerfDataSize>;

constexpr std::uint8_t kBefore = 100;

/// What Set of an attribute leaves at zero of a port all of whose counters have counted.
template <class Counters>
Names reset_by(const Counters& asked,
               std::uint16_t attribute,
               void (*encode)(const Counters&, Data)) {
  const FabricSpec spec = line();
  NodeState node = power_on(spec.nodes[1], {}, 0);
  PortCounterRegs& regs = node.ports[1].counters;
  regs = {.wide_xmit_data = kBefore,
          .wide_rcv_data = kBefore,
          .wide_xmit_packets = kBefore,
          .wide_rcv_packets = kBefore,
          .wide_unicast_xmit = kBefore,
          .wide_unicast_rcv = kBefore,
          .wide_xmit_wait = kBefore,
          .xmit_data = kBefore,
          .rcv_data = kBefore,
          .xmit_packets = kBefore,
          .rcv_packets = kBefore,
          .xmit_wait = kBefore,
          .rcv_errors = kBefore,
          .rcv_switch_relay_errors = kBefore,
          .xmit_discards = kBefore,
          .vl15_dropped = kBefore,
          .link_downed = kBefore};
  MadBytes mad{};
  encode_mad_header({.mgmt_class = static_cast<std::uint8_t>(MgmtClass::Performance),
                     .class_version = 1,
                     .method = static_cast<std::uint8_t>(Method::Set),
                     .attribute_id = attribute},
                    mad);
  encode(asked, std::span<std::byte, kMadSize>(mad).subspan<kPerfDataOffset>());
  answer_performance(node, PortNum{1}, mad);
  EXPECT_EQ(decode_mad_header(mad).value().status, 0u);
  Names out;
  const auto look = [&](const char* name, std::uint64_t value) {
    if (value == 0) out.emplace_back(name);
    EXPECT_TRUE(value == 0 || value == kBefore) << name << " " << value;
  };
  look("wide_xmit_data", regs.wide_xmit_data);
  look("wide_rcv_data", regs.wide_rcv_data);
  look("wide_xmit_packets", regs.wide_xmit_packets);
  look("wide_rcv_packets", regs.wide_rcv_packets);
  look("wide_unicast_xmit", regs.wide_unicast_xmit);
  look("wide_unicast_rcv", regs.wide_unicast_rcv);
  look("wide_xmit_wait", regs.wide_xmit_wait);
  look("xmit_data", regs.xmit_data);
  look("rcv_data", regs.rcv_data);
  look("xmit_packets", regs.xmit_packets);
  look("rcv_packets", regs.rcv_packets);
  look("xmit_wait", regs.xmit_wait);
  look("rcv_errors", regs.rcv_errors);
  look("rcv_switch_relay_errors", regs.rcv_switch_relay_errors);
  look("xmit_discards", regs.xmit_discards);
  look("vl15_dropped", regs.vl15_dropped);
  look("link_downed", regs.link_downed);
  return out;
}

Names expected_of(const std::map<unsigned, Names>& bits, unsigned bit) {
  return bits.contains(bit) ? bits.at(bit) : Names{};
}

// The bits as IBA 16.1.3.5 numbers them, not by their names in the code.
TEST(CounterMasks, EachBitResetsItsRegisterAlone) {
  const std::map<unsigned, Names> bits{{2, {"link_downed"}},
                                       {3, {"rcv_errors"}},
                                       {5, {"rcv_switch_relay_errors"}},
                                       {6, {"xmit_discards"}},
                                       {11, {"vl15_dropped"}},
                                       {12, {"xmit_data"}},
                                       {13, {"rcv_data"}},
                                       {14, {"xmit_packets"}},
                                       {15, {"rcv_packets"}}};
  for (unsigned bit = 0; bit < 16; ++bit) {
    PortCounters asked{.port_select = PortNum{1}};
    asked.counter_select = static_cast<std::uint16_t>(1u << bit);
    EXPECT_EQ(reset_by(asked, perf_attribute::kPortCounters, encode_port_counters),
              expected_of(bits, bit))
        << bit;
  }
  for (unsigned bit = 0; bit < 8; ++bit) {
    PortCounters asked{.port_select = PortNum{1}};
    asked.counter_select2 = static_cast<std::uint8_t>(1u << bit);
    EXPECT_EQ(reset_by(asked, perf_attribute::kPortCounters, encode_port_counters),
              expected_of({{0, {"xmit_wait"}}}, bit))
        << bit;
  }
}

// IBA 16.1.4.11.
TEST(CounterMasks, OfTheExtendedCountersToo) {
  const std::map<unsigned, Names> bits{{0, {"wide_xmit_data"}},
                                       {1, {"wide_rcv_data"}},
                                       {2, {"wide_xmit_packets"}},
                                       {3, {"wide_rcv_packets"}},
                                       {4, {"wide_unicast_xmit"}},
                                       {5, {"wide_unicast_rcv"}}};
  for (unsigned bit = 0; bit < 16; ++bit) {
    PortCountersExtended asked{.port_select = PortNum{1}};
    asked.counter_select = static_cast<std::uint16_t>(1u << bit);
    EXPECT_EQ(reset_by(asked, perf_attribute::kPortCountersExtended, encode_port_counters_extended),
              expected_of(bits, bit))
        << bit;
  }
}

// Those included that the agent has no register for.
TEST(CounterMasks, NamesInTheCodeHaveThoseBits) {
  using namespace counter_select;
  constexpr std::uint16_t kInOrder[] = {kSymbolErrors,
                                        kLinkErrorRecovery,
                                        kLinkDowned,
                                        kRcvErrors,
                                        kRcvRemotePhysicalErrors,
                                        kRcvSwitchRelayErrors,
                                        kXmitDiscards,
                                        kXmitConstraintErrors,
                                        kRcvConstraintErrors,
                                        kLocalLinkIntegrityErrors,
                                        kExcessiveBufferOverrunErrors,
                                        kVl15Dropped,
                                        kXmitData,
                                        kRcvData,
                                        kXmitPackets,
                                        kRcvPackets};
  for (unsigned bit = 0; bit < 16; ++bit) EXPECT_EQ(kInOrder[bit], 1u << bit);
}

}  // namespace pma_test
}  // namespace smd::sim::test
