// First half of reading a fabric file: its lines as records, nothing connected yet. One grammar
// covers ibsim's net format and the output of ibnetdiscover, which ibsim reads too.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/topology/fabric_spec.h"

namespace smd::sim {

struct FilePlace {
  std::uint32_t file = 0;  // index into NetRecords::files
  int line = 0;
};

/// ibsim's sums of what a port may use; 0 where the file does not say.
struct RateMasks {
  unsigned width = 0;     // w= or width=: 1 (1x), 2 (4x), 4 (8x), 8 (12x), 16 (2x)
  unsigned speed = 0;     // s= or speed=: 1 (SDR), 2 (DDR), 4 (QDR)
  unsigned extended = 0;  // e= or extspeed=: 1 (FDR), 2 (EDR), 4 (HDR), 8 (NDR)
};

/// What one line says about a port and the other end of its cable.
struct PortRecord {
  FilePlace place;
  unsigned port = 0;
  std::string peer_id;
  unsigned peer_port = 1;
  Guid guid;       // of this port; 0 when the line does not say
  Guid peer_guid;  // of the port at the other end, likewise
  Lid lid;
  std::uint8_t lmc = 0;
  LinkWidth width = LinkWidth::None;  // from the comment, None when it does not say
  LinkSpeed speed = LinkSpeed::None;
  bool is_speed_unknown = false;  // the comment has a rate of which the program knew no speed
  RateMasks masks;
};

struct NodeRecord {
  FilePlace place;
  NodeSpec node;  // ports sized, none connected
  std::vector<PortRecord> ports;
};

inline constexpr std::size_t kMaxFaults = 20;

struct NetRecords {
  std::string title;
  std::vector<std::string> files;
  std::vector<NodeRecord> nodes;
  Guid sm_node;  // "Initiated from", 0 when the file does not say
  Guid sm_port;
  Faults faults;  // at most kMaxFaults

  void add_fault(FilePlace place, std::string message);

  /// For messages that are dear: made only where there is room for one more.
  template <std::invocable Make>
  void add_fault(FilePlace place, Make make) {
    if (faults.size() < kMaxFaults) add_fault(place, std::string(make()));
  }
};

/// The text of an included file, or why it cannot be had.
using Includer = std::function<Result<std::string>(const std::string& name)>;

/// Total: whatever the text, the result is records and faults.
[[nodiscard]] NetRecords read_net_lines(std::string_view text,
                                        const std::string& file,
                                        const Includer& include);

/// Second half: nodes, cables and rates from the records. Every fault names its line, as does every
/// note: what had to be assumed.
[[nodiscard]] Parsed<FabricSpec> build_fabric(NetRecords records, Faults& notes);

}  // namespace smd::sim
