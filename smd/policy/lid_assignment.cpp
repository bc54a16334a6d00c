#include "smd/policy/lid_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

namespace smd {
namespace {

// Parts of the fabric whose links have been configured: after two running subnets are cabled
// together, everything inside each is Armed or Active while the new cable is still in Initialize.
class Sides {
 public:
  explicit Sides(const Fabric& fabric) : parent_(fabric.node_count()) {
    std::iota(parent_.begin(), parent_.end(), 0u);
    for (const PortIdx port : fabric.peer.indices()) {
      const PortIdx peer = fabric.peer[port];
      if (peer == kNone<PortIdx> || !configured(fabric, port) || !configured(fabric, peer))
        continue;
      parent_[find(fabric.node_of[port].value())] = find(fabric.node_of[peer].value());
    }
  }

  std::uint32_t find(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

 private:
  static bool configured(const Fabric& fabric, PortIdx port) {
    const PortState state = fabric.port_info[port].state();
    return state == PortState::Armed || state == PortState::Active ||
           state == PortState::ActiveDefer;
  }

  std::vector<std::uint32_t> parent_;
};

struct Claim {
  PortIdx port = kNone<PortIdx>;  // kNone: the book's record of a port that is not here
  Guid guid;
  Lid base;
  std::uint8_t lmc = 0;
  bool from_book = false;
  std::uint32_t side = 1;  // ports that would keep a LID on the claimant's side

  [[nodiscard]] unsigned first() const { return base.value(); }

  [[nodiscard]] unsigned last() const { return base.value() + (1u << lmc) - 1; }
};

class Assigner {
 public:
  Assigner(const Fabric& fabric, const LidBook& book, const LidPolicy& policy)
      : fabric_(fabric), book_(book), policy_(policy), holder_(kTopUnicastLid.value() + 1u) {}

  Result<LidAssignment> run() {
    out_.map = make_lid_map(fabric_);
    gather();
    honour(claims_);
    honour(second_claims_);
    if (Result<void> done = give_new_ones(); !done) return tl::unexpected<Error>(done.error());
    write_book();
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kReserved = 1;  // for a port in the book that is not here
  static constexpr std::uint32_t kPort = 2;      // + port index

  std::uint8_t lmc_of(PortIdx port) const {
    const SwitchIdx sw = fabric_.switch_of[fabric_.node_of[port]];
    if (sw == kNone<SwitchIdx>) return policy_.lmc;
    return fabric_.switch_info[sw].enhanced_port0 ? policy_.lmc_enhanced_port0 : std::uint8_t{0};
  }

  bool usable(Lid base, std::uint8_t lmc) const {
    const unsigned first = base.value();
    const unsigned last = first + (1u << lmc) - 1;
    return is_unicast(base) && base >= policy_.min && first % (1u << lmc) == 0 &&
           last <= policy_.max.value() && last <= kTopUnicastLid.value();
  }

  void gather() {
    Sides sides{fabric_};
    std::vector<std::uint32_t> side_size(fabric_.node_count(), 0);
    std::vector<Guid> present;
    for (const PortIdx port : fabric_.peer.indices()) {
      if (!fabric_.is_end_port(port)) continue;
      const Guid guid = fabric_.port_guid[port];
      present.push_back(guid);
      Claim claim{.port = port, .guid = guid, .lmc = lmc_of(port)};
      const auto record = book_.find(guid);
      const bool in_book = record != book_.end() && usable(record->second.base, claim.lmc);
      const Lid own = fabric_.port_info[port].lid;
      const bool has_own = usable(own, claim.lmc);
      if (!in_book && !has_own) continue;
      ++side_size[sides.find(fabric_.node_of[port].value())];
      claim.from_book = in_book;
      claim.base = in_book ? record->second.base : own;
      claims_.push_back(claim);
      if (in_book && has_own && own != claim.base) {
        claim.from_book = false;
        claim.base = own;
        second_claims_.push_back(claim);
      }
    }
    for (std::vector<Claim>* claims : {&claims_, &second_claims_}) {
      for (Claim& claim : *claims)
        claim.side = side_size[sides.find(fabric_.node_of[claim.port].value())];
    }
    std::sort(present.begin(), present.end());
    for (const auto& [guid, record] : book_) {
      if (std::binary_search(present.begin(), present.end(), guid)) continue;
      claims_.push_back({.guid = guid, .base = record.base, .lmc = record.lmc, .from_book = true});
    }
  }

  // The strongest claim is served first: the larger side, then the book, then the smaller GUID.
  void honour(std::vector<Claim>& claims) {
    const auto strength = [](const Claim& c) {
      return std::tuple(~c.side, !c.from_book, c.guid, c.port);
    };
    std::stable_sort(claims.begin(), claims.end(), [&](const Claim& a, const Claim& b) {
      return strength(a) < strength(b);
    });
    for (const Claim& claim : claims) {
      if (claim.port != kNone<PortIdx> && has_lid(claim.port)) continue;
      if (const unsigned taken = first_taken(claim); taken != 0) {
        if (claim.port != kNone<PortIdx> && holder_[taken] >= kPort)
          out_.conflicts.push_back({.lid = Lid{static_cast<std::uint16_t>(taken)},
                                    .kept = PortIdx{holder_[taken] - kPort},
                                    .moved = claim.port});
      } else {
        take(claim);
      }
    }
  }

  bool has_lid(PortIdx port) const { return out_.map.base[port] != kUnassignedLid; }

  unsigned first_taken(const Claim& claim) const {
    for (unsigned lid = claim.first(); lid <= claim.last(); ++lid) {
      if (holder_[lid] != kFree) return lid;
    }
    return 0;
  }

  void take(const Claim& claim) {
    const bool reserve = claim.port == kNone<PortIdx>;
    for (unsigned lid = claim.first(); lid <= claim.last(); ++lid)
      holder_[lid] = reserve ? kReserved : kPort + claim.port.value();
    if (!reserve) set_lid(out_.map, claim.port, claim.base, claim.lmc);
  }

  Result<void> give_new_ones() {
    std::array<unsigned, 8> from{};  // per LMC: nothing below is free
    bool reuse = false;
    for (const PortIdx port : fabric_.peer.indices()) {
      if (!fabric_.is_end_port(port) || has_lid(port)) continue;
      const std::uint8_t lmc = lmc_of(port);
      unsigned base = find_free(lmc, from[lmc], reuse);
      if (base == 0 && !reuse) {
        reuse = true;
        from = {};
        base = find_free(lmc, from[lmc], reuse);
      }
      if (base == 0)
        return fail(Errc::Unsupported,
                    fmt::format("no LIDs left for {}: {} … {} are in use",
                                print_port(fabric_, port),
                                policy_.min,
                                policy_.max));
      take({.port = port, .base = Lid{static_cast<std::uint16_t>(base)}, .lmc = lmc});
    }
    return {};
  }

  unsigned find_free(std::uint8_t lmc, unsigned& from, bool reuse) const {
    const unsigned size = 1u << lmc;
    const unsigned min = std::max<unsigned>({policy_.min.value(), from, 1u});
    for (from = (min + size - 1) / size * size; from + size - 1 <= policy_.max.value();
         from += size) {
      bool free = true;
      for (unsigned lid = from; free && lid < from + size; ++lid)
        free = holder_[lid] == kFree || (reuse && holder_[lid] == kReserved);
      if (free) return from;
    }
    return 0;
  }

  void write_book() {
    for (const auto& [guid, record] : book_) {
      const unsigned last = record.base.value() + (1u << record.lmc) - 1u;
      bool reserved = true;
      for (unsigned lid = record.base.value(); reserved && lid <= last; ++lid)
        reserved = holder_[lid] == kReserved;
      if (reserved) out_.book.emplace(guid, record);
    }
    for (const PortIdx port : fabric_.peer.indices()) {
      if (has_lid(port))
        out_.book.emplace(fabric_.port_guid[port],
                          LidRecord{.base = out_.map.base[port], .lmc = out_.map.lmc[port]});
    }
  }

  const Fabric& fabric_;
  const LidBook& book_;
  const LidPolicy& policy_;
  std::vector<Claim> claims_;
  std::vector<Claim> second_claims_;   // what ports say whose LID in the book went to another
  std::vector<std::uint32_t> holder_;  // by LID
  LidAssignment out_;
};

Result<void> check_policy(const LidPolicy& policy) {
  if (policy.lmc > 7 || policy.lmc_enhanced_port0 > 7)
    return fail(Errc::Invalid, "an LMC is 0 … 7");
  if (!is_unicast(policy.min) || !is_unicast(policy.max) || policy.min > policy.max)
    return fail(Errc::Invalid,
                fmt::format("LIDs {} … {}: the range lies within 1 … {}, lowest first",
                            policy.min,
                            policy.max,
                            kTopUnicastLid));
  return {};
}

}  // namespace

Result<LidAssignment> assign_lids(const Fabric& fabric,
                                  const LidBook& book,
                                  const LidPolicy& policy) {
  if (Result<void> valid = check_policy(policy); !valid)
    return tl::unexpected<Error>(valid.error());
  for (const auto& [guid, record] : book) {
    if (!is_unicast(record.base) || record.lmc > 7 ||
        record.base.value() + (1u << record.lmc) - 1 > kTopUnicastLid.value())
      return fail(Errc::Invalid, fmt::format("the LID book gives {} no unicast LIDs", guid));
  }
  return Assigner{fabric, book, policy}.run();
}

}  // namespace smd
