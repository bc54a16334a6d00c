// PathRecord and TraceRecord, and paths along the tables in force that a request may mean.
#pragma once

#include <optional>
#include <vector>

#include "smd/ib/rates.h"
#include "smd/ib/types.h"
#include "smd/sa/query.h"
#include "smd/sa/sa_mad.h"
#include "smd/sa/subnet_view.h"

namespace smd::sa {

// PathRecord (IBA 15.2.5.16): a path from one port to another, and what a packet must know to take
// it. In a request each of MTU, rate and lifetime is a bound that its selector explains.

struct PathRecord {
  std::uint64_t service_id = 0;
  Gid dgid;
  Gid sgid;
  Lid dlid;
  Lid slid;
  bool raw_traffic = false;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 0;
  std::uint8_t tclass = 0;
  bool reversible = false;
  std::uint8_t numb_path = 0;  // 7 bits
  PKey p_key;
  std::uint16_t qos_class = 0;  // 12 bits
  std::uint8_t sl = 0;          // 4 bits
  Bound mtu;
  Bound rate;
  Bound life_time;
  std::uint8_t preference = 0;

  friend bool operator==(const PathRecord&, const PathRecord&) = default;
};

inline constexpr std::size_t kPathRecordSize = 64;

/// Bits of its ComponentMask.
namespace path_component {
inline constexpr std::uint64_t kServiceId = component_bit(0) | component_bit(1);
inline constexpr std::uint64_t kDgid = component_bit(2);
inline constexpr std::uint64_t kSgid = component_bit(3);
inline constexpr std::uint64_t kDlid = component_bit(4);
inline constexpr std::uint64_t kSlid = component_bit(5);
inline constexpr std::uint64_t kRawTraffic = component_bit(6);
inline constexpr std::uint64_t kReversible = component_bit(11);
inline constexpr std::uint64_t kNumbPath = component_bit(12);
inline constexpr std::uint64_t kPKey = component_bit(13);
inline constexpr std::uint64_t kQosClass = component_bit(14);
inline constexpr std::uint64_t kSl = component_bit(15);
inline constexpr std::uint64_t kMtuSelector = component_bit(16);
inline constexpr std::uint64_t kMtu = component_bit(17);
inline constexpr std::uint64_t kRateSelector = component_bit(18);
inline constexpr std::uint64_t kRate = component_bit(19);
inline constexpr std::uint64_t kLifeTimeSelector = component_bit(20);
inline constexpr std::uint64_t kLifeTime = component_bit(21);
}  // namespace path_component

Result<PathRecord> decode_path_record(std::span<const std::byte> data);

/// Requires: data.size() >= 64.
void encode_record(const PathRecord& record, std::span<std::byte> data);

// A packet's path from an end port to a LID along the tables in force, and what bounds it.

struct PathFacts {
  std::uint8_t mtu = 0;            // code
  std::uint8_t rate = 0;           // code, see ib/rates.h
  std::optional<std::uint8_t> sl;  // nothing: any
  unsigned links = 0;              // 0: the port itself
};

/// Nothing when the tables lead nowhere, or round in circles: a walk ends after as many switches as
/// there are. Requires: `source` is an end port. `egresses`, if given, receives the ports by which
/// the packet leaves a node.
[[nodiscard]] std::optional<PathFacts> find_path(const SubnetView& view,
                                                 PortIdx source,
                                                 Lid destination,
                                                 std::vector<PortIdx>* egresses = nullptr);

// In which partition two ports talk (IBA 10.9.3): one that both are in, and not both as limited
// members.

/// The P_Key that a path from `source` to `target` carries. With `asked`, that one where its
/// partition joins them; else the source's key of the default partition, or of the first in the
/// order of the file that joins them. Nothing where none does, or none of `allowed` partitions;
/// without any, all are.
[[nodiscard]] std::optional<PKey> find_path_key(const SubnetView& view,
                                                PortIdx source,
                                                PortIdx target,
                                                std::optional<PKey> asked,
                                                const std::vector<NumberRange>& allowed = {});

// The paths between two ports that keep what a request asks for, as records.

/// What a request has to do with paths that are dealt in turn (PathChoice::Rotate).
enum class Rotation : std::uint8_t {
  None,  // nothing
  Next,  // it is dealt the next one
  Last   // it asks which one was dealt last
};

/// What is asked of each path; ends aside.
struct PathRequest {
  PathRecord wanted;
  std::uint64_t mask = 0;  // of path_component
  Rotation rotation = Rotation::None;
  std::size_t paths_per_pair = SIZE_MAX;  // of ports
  PathOrder* order = nullptr;             // null: as LIDs ascend

  [[nodiscard]] bool asks(std::uint64_t components) const {
    return (mask & components) == components;
  }
};

class PathFinder {
 public:
  /// All outlive this.
  PathFinder(const SubnetView& view, const PathRequest& request, const QueryLimits& limits);

  /// A port as the request means it.
  struct End {
    PortIdx port;
    Lid only = kUnassignedLid;    // kUnassignedLid: any LID of the port
    std::optional<Gid> gid = {};  // that was asked for: its own, a further one, or, of a router,
                                  // one that it leads to; nothing: none was
  };

  /// The pairs of equal offsets come first, in PathRequest::order. False when the request has cost
  /// too much.
  [[nodiscard]] bool add_pair(const End& source, const End& target);

  [[nodiscard]] Answer finish();

 private:
  /// What all paths of a pair have in common.
  struct Pair {
    PortIdx source;
    PortIdx target;
    Gid sgid;  // as the answer has it
    Gid dgid;
    PKey key;
    const QosLevel* level = nullptr;  // null: the site has no rules
  };

  [[nodiscard]] const QosLevel* find_level(PortIdx source, PortIdx target) const;
  [[nodiscard]] std::optional<std::uint8_t> choose_sl(const Pair& pair,
                                                      const PathFacts& path) const;

  /// By offset from the first LID of their port; `end` is not among them.
  struct LidRange {
    unsigned begin = 0;
    unsigned end = 0;
  };

  /// Of the one LID that was asked for, or of all.
  [[nodiscard]] LidRange find_offsets(PortIdx port, Lid only) const;

  template <class IsAllowed>
  void order_offsets(const Pair& pair, LidRange among, IsAllowed is_allowed);
  [[nodiscard]] std::uint32_t find_worst(const Pair& pair, Lid to);

  [[nodiscard]] Gid gid_of(const End& end) const;
  [[nodiscard]] std::uint8_t partition_sl(PKey key) const;
  bool add_path(const Pair& pair, Lid slid, Lid dlid, std::uint8_t preference);

  template <class Choose>
  [[nodiscard]] std::optional<std::uint8_t> bounded(std::uint64_t components,
                                                    const Bound& bound,
                                                    std::uint8_t path,
                                                    Choose choose) const {
    return request_.asks(components) ? choose(bound, path) : std::optional(path);
  }

  const SubnetView& view_;
  const PathRequest& request_;
  const QueryLimits& limits_;
  std::size_t walked_ = 0;
  std::size_t compared_ = 0;       // walked for the order alone
  std::vector<unsigned> order_;    // of the offsets of a pair
  std::vector<PortIdx> egresses_;  // of the path that is walked
  std::vector<std::byte> records_;
};

/// Unicast, of another subnet: the path leads to a router.
[[nodiscard]] bool is_elsewhere(const SubnetView& view, const Gid& gid);

/// The port that a GID names; kNone when nobody in this subnet has it.
[[nodiscard]] PortIdx find_gid(const SubnetView& view, const Gid& gid);

// PathRecord requests: from which ports to which, and which of the paths between them keep what the
// request asks for (IBA 15.2.5.16, 15.4.5).

[[nodiscard]] Answer find_path_records(const SubnetView& view,
                                       const Query& query,
                                       const QueryLimits& limits);

/// The value of MTU, rate or lifetime that the answer carries: what the path has, lowered (raised,
/// for a lifetime) where the request asks for less; nothing where the path cannot keep it.
/// "Exactly" a rate is the path's own and no other, as clients know it from OpenSM.
[[nodiscard]] std::optional<std::uint8_t> choose_mtu(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_rate(const Bound& bound, std::uint8_t path);
[[nodiscard]] std::optional<std::uint8_t> choose_life_time(const Bound& bound, std::uint8_t path);

// TraceRecord (IBA 15.2.5.19): the nodes along a path, in order, the first and the last included.
// Asked for with GetTraceTable and a PathRecord that names both ends.

struct TraceRecord {
  std::uint64_t gid_prefix = kDefaultSubnetPrefix;
  std::uint16_t generation = 0;  // ids of one generation can be compared; ours are GUIDs and stay
  std::uint8_t node_type = 0;    // raw
  std::uint64_t node = 0;
  std::uint64_t chassis = 0;  // system image GUID
  std::uint64_t entry_port_id = 0;
  std::uint64_t exit_port_id = 0;
  PortNum entry_port;  // 0: the path begins here, or came in by port 0
  PortNum exit_port;   // 0: it ends here

  friend bool operator==(const TraceRecord&, const TraceRecord&) = default;
};

inline constexpr std::size_t kTraceRecordSize = 48;

Result<TraceRecord> decode_trace_record(std::span<const std::byte> data);

/// Requires: data.size() >= 48.
void encode_record(const TraceRecord& record, std::span<std::byte> data);

/// Of the first path that the request means; none where there is no such path.
[[nodiscard]] Answer find_trace(const SubnetView& view,
                                const Query& query,
                                const QueryLimits& limits);

}  // namespace smd::sa
