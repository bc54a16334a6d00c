// What Debian's diagnostics say about a fabric, read back into values: how a test learns what a
// subnet manager did from somebody who has nothing to do with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::test {

/// A port: the node's id as in "S-0002c90300000001", and its number.
using PortKey = std::pair<std::string, unsigned>;

struct SeenNode {
  bool is_switch = false;
  std::string description;
  std::map<unsigned, unsigned> lids;  // by port; port 0 of a switch
};

/// The output of ibnetdiscover.
struct SeenFabric {
  std::map<std::string, SeenNode> nodes;
  std::map<PortKey, PortKey> links;  // both directions

  /// Every LID there is, with the port it belongs to. LMC 0.
  [[nodiscard]] std::map<unsigned, PortKey> lids() const;

  [[nodiscard]] std::map<PortKey, unsigned> lid_of_port() const;
};

[[nodiscard]] SeenFabric read_ibnetdiscover(std::string_view text);

/// The output of iblinkinfo -l: every cabled port with its state.
struct SeenState {
  std::string port;      // guid and number, as printed
  std::string logical;   // "Active"
  std::string physical;  // "LinkUp"
};

[[nodiscard]] std::vector<SeenState> read_iblinkinfo(std::string_view text);

/// The output of dump_fts: switch id -> LID -> egress port.
using SeenTables = std::map<std::string, std::map<unsigned, unsigned>>;

[[nodiscard]] SeenTables read_dump_fts(std::string_view text);

/// The output of ibroute for one switch, in the same words.
[[nodiscard]] std::map<unsigned, unsigned> read_ibroute(std::string_view text);

/// Follows the tables as read, from every switch to every LID there is; one line for each pair that
/// does not arrive, at most `most` of them. Adapters need no walk of their own: they enter at a
/// switch.
[[nodiscard]] std::vector<std::string> find_broken_routes(const SeenFabric& fabric,
                                                          const SeenTables& tables,
                                                          std::size_t most = 10);

}  // namespace smd::test
