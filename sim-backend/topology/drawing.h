// The pen of the generators: stable GUIDs, names and cables of one rate.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"
#include "sim-backend/topology/generator.h"

namespace smd::sim {

[[nodiscard]] constexpr PortNum port_num(std::size_t port) {
  return PortNum{static_cast<std::uint8_t>(port)};
}

inline constexpr std::uint16_t kAggregationDevice = 0xcf09;  // of a Quantum switch

/// A product that stays at its largest value instead of wrapping: sizes come from the command line.
[[nodiscard]] std::uint64_t product(std::initializer_list<std::uint64_t> factors);

/// What a drawing is about to need; checked before anything of that size is allocated.
struct Size {
  std::uint64_t switches = 0;
  std::uint64_t host_ports = 0;  // one LID each
  std::uint64_t radix = 0;       // ports of the largest switch
  bool beyond = false;           // no subnet: LIDs do not count
};

/// Empty when such a fabric fits into a subnet, or is beyond one and not too large for that either;
/// else what does not fit and the limit.
[[nodiscard]] std::string check_size(const Size& size);

class Drawing {
 public:
  explicit Drawing(const Arguments& arguments)
      : width_(arguments.width), speed_(arguments.speed), adapters_(arguments.adapters) {}

  std::uint32_t add_switch(std::string description, unsigned ports);

  /// The next adapter, a node of its own. Where hosts have several, they follow each other, share
  /// the system GUID of the first, and are called "host-00003 mlx5_0", "host-00003 mlx5_1".
  std::uint32_t add_host(unsigned ports = 1);

  /// All adapters of a host that has so many, whatever the others have.
  std::vector<std::uint32_t> add_adapters(unsigned count);

  void cable(std::uint32_t a, unsigned port_a, std::uint32_t b, unsigned port_b);

  /// The next adapter with one port, on that port of a switch.
  void hang_host(std::uint32_t sw, unsigned port);

  /// The manager sits on the first host, or on port 0 of the first switch when there is no host.
  /// Its node comes first, because ibsim attaches clients to the first node of a file.
  [[nodiscard]] FabricSpec finish() &&;

 private:
  FabricSpec spec_;
  LinkWidth width_;
  LinkSpeed speed_;
  std::uint32_t adapters_;
  std::uint32_t switches_ = 0;
  std::uint32_t hosts_ = 0;
  std::uint32_t begun_ = 0;  // adapters that the host has which is not complete
  Guid system_guid_;         // its
  std::uint64_t next_host_guid_ = 0x0001000000000000u;
  std::uint32_t first_host_ = kNoNode;
};

/// "sw-3-0-5" from the coordinates 3, 0, 5.
[[nodiscard]] std::string switch_name(std::initializer_list<std::uint32_t> coordinates);
[[nodiscard]] std::string switch_name(const std::vector<std::uint32_t>& coordinates);

/// Puts a node first and keeps the order of the others.
void move_to_front(FabricSpec& spec, std::uint32_t node);

}  // namespace smd::sim
