// An M_Key of its own for each port, on the wire only.
//
// The rest of the manager knows one M_Key for all ports (IBA 14.2.4). Where a site wants ports to
// have keys of their own, so that whoever learns one opens one port, that M_Key is a name for "the
// key of this port by this seed": a SMP that leaves gets the key of the port that it is for, and
// PortInfo that arrives has the name again. Which port that is follows from NodeInfo, as it was
// answered along each path, and from the LIDs in PortInfo.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "smd/smp/smp_client.h"

namespace smd {

/// What keys come from.
struct MKeySource {
  std::string seed;  // bytes; empty: `key` is that of every port
  MKey key;

  friend bool operator==(const MKeySource&, const MKeySource&) = default;
};

/// What ports get comes first; the others are what they may still have.
using MKeySources = std::vector<MKeySource>;

/// The first 8 bytes of HMAC-SHA256 under the seed, of "smd M_Key" and the port GUID, big endian;
/// never 0. The port GUID of a switch is that of its port 0.
[[nodiscard]] MKey derive_m_key(std::string_view seed, Guid port);

/// What the manager calls the keys of a source: the key where all ports have one, else a number
/// that is no port's.
[[nodiscard]] MKey name_of(const MKeySource& source);

/// The key of the port that goes by this name; a key that is no name is itself.
[[nodiscard]] MKey find_m_key(const MKeySources& sources, Guid port, MKey name);

/// One end of a link, and whose M_Key counts there.
struct KeyPort {
  Guid node;
  Guid port;  // of a switch: port 0
  PortNum number;
  bool is_switch = false;

  friend bool operator==(const KeyPort&, const KeyPort&) = default;
};

/// The end of the smaller node GUID and port number first.
using KeyLink = std::pair<KeyPort, KeyPort>;

class PortMKeys {
 public:
  explicit PortMKeys(Guid own_port) { own_.port = own_port; }

  /// Ports that are known keep the key that they have until they are set: those that showed
  /// none of the new ones have that of the source that came first before.
  void adopt(MKeySources sources);

  [[nodiscard]] bool has_seed() const;

  /// As it leaves. Keys of several sources are tried in turn where it is not known which one the
  /// port has. Where the port is not known the M_Key is 0: a port without a key takes that.
  [[nodiscard]] SmpRequest on_wire(const SmpRequest& request, unsigned attempt) const;

  /// Learns from the answer to that attempt, and puts names for keys into it.
  void take_in(const SmpRequest& request, unsigned attempt, SmpReply& reply);

  /// For what leaves without an answer; 0 where the port is not known.
  [[nodiscard]] MKey find(const SmpRoute& route, MKey name) const;

  /// Links between what has answered, ascending: what a later life needs to find ports that answer
  /// nobody without their key.
  [[nodiscard]] std::vector<KeyLink> links() const;

  /// Whether they are others than at the last call.
  [[nodiscard]] bool take_news() { return std::exchange(news_, false); }

  /// In place of what was at either end.
  void put(const KeyLink& link);

 private:
  [[nodiscard]] std::optional<std::size_t> source_of(MKey name) const;
  [[nodiscard]] const KeyPort* follow(const KeyPort* from, const HopPath& path) const;
  [[nodiscard]] const KeyPort* find_port(const SmpRoute& route) const;
  [[nodiscard]] MKey key_of(Guid port, std::size_t source) const;
  [[nodiscard]] std::size_t first_source(Guid port) const;
  [[nodiscard]] std::size_t source_at(Guid port, unsigned attempt) const;
  [[nodiscard]] KeyPort& far_end(const KeyPort& end);
  void cut(const KeyPort& end);
  void learn_node(const SmpRequest& request, const SmpReply& reply);
  void learn_port(const SmpRequest& request, unsigned attempt, SmpReply& reply);
  void note_source(Guid port, std::size_t source);

  MKeySources sources_;
  std::vector<MKey> names_;  // of the sources
  MKey usual_;               // name of what ports have that `known_` has not
  std::unordered_map<Guid, MKey> known_;
  mutable std::vector<std::unordered_map<Guid, MKey>> derived_;  // by source, then port
  KeyPort own_;
  std::unordered_map<Guid, std::vector<KeyPort>> far_ends_;  // by node, then port number
  bool news_ = false;
  std::vector<KeyPort> by_lid_;
};

}  // namespace smd
