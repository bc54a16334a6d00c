// Hosts that make messages by themselves: a pattern, an arrival process, sizes, service levels.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sim-backend/kernel/huge_pages.h"
#include "sim-backend/packet/data_net.h"
#include "sim-backend/traffic/arrivals.h"
#include "sim-backend/traffic/patterns.h"

namespace smd::sim {

struct SizeShare {
  std::uint32_t bytes = 0;  // of payload; above the MTU: several packets, one after the other
  double weight = 1;
};

enum class SlChoice : std::uint8_t {
  Fixed,
  Random,  // 0 to sl
  Path     // as the routing engine says of the path
};

/// A multicast group, for one of its members.
struct GroupTarget {
  Lid mlid;
  std::uint8_t sl = 0;
  std::uint32_t copies = 1;  // that other members get
};

struct SyntheticOptions {
  double load = 0.1;      // of the host's own link, headers included
  ArrivalModel arrivals;  // its gaps are worked out from `load`
  std::vector<SizeShare> sizes{{2048, 1}};
  unsigned mtu = 4096;
  unsigned header_bytes = 26;
  SlChoice sl_choice = SlChoice::Fixed;
  std::uint8_t sl = 0;
  std::uint32_t lids = 1;       // of each host, that messages are spread over at random
  bool by_host_number = false;  // hosts have none
  // Messages to as many hosts as this, any of them; then loads count each copy, and the pattern is
  // that of the rest. With more than one `send_to` makes them.
  std::uint32_t destinations = 1;
  std::vector<std::vector<GroupTarget>> groups;  // by host, where nets have them, likewise: any
  double multicast_share = 1;                    // of messages
  std::function<void(HostNum, std::span<const HostNum>, std::uint16_t)> send_to{};
  std::uint64_t seed = 1;
  Picos start = 0;
  Picos stop = kNever;
};

/// Packets carry the number of the host that they are for as their tag.
class SyntheticTraffic final : public Workload {
 public:
  /// SL of the path from one host to a LID of another.
  using PathSl = std::function<std::uint8_t(HostNum from, HostNum to, std::uint32_t offset)>;

  /// `byte_time`: of each host's link, as Wire has it.
  SyntheticTraffic(const SyntheticOptions& options,
                   Destinations destinations,
                   std::vector<std::uint32_t> byte_time,
                   PathSl path_sl = {});

  Picos first(HostNum host) override;
  Picos emit(DataNet& net, HostNum host, Picos now) override;

  [[nodiscard]] bool splits() const override { return true; }

  /// Bytes that one message takes on the wire, on average.
  [[nodiscard]] double mean_wire_bytes() const;

  /// Of the hosts that send, what whoever sends most often has between messages, in ps; nothing
  /// where none does.
  [[nodiscard]] std::optional<double> least_mean_gap() const;

 private:
  struct Source {
    Rng rng;
    Arrivals arrivals;
    ArrivalModel model;
  };

  [[nodiscard]] bool sends(HostNum host) const;
  [[nodiscard]] double copies_of(HostNum host) const;
  [[nodiscard]] std::uint32_t draw_size(Rng& rng) const;
  void send_message(DataNet& net, HostNum host, PacketRequest sending);
  void draw_hosts(HostNum source, Rng& rng, std::vector<HostNum>& out) const;
  [[nodiscard]] std::uint32_t wire_bytes(std::uint32_t payload) const;

  SyntheticOptions options_;
  Destinations destinations_;
  PathSl path_sl_;
  PagedVector<Source> sources_;
};

}  // namespace smd::sim
