#include "smd/policy/lid_assignment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd {
namespace {

// Parts of the fabric whose links have been configured: after two running subnets are cabled
// together, everything inside each is Armed or Active while the new link is still in Initialize.
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

bool is_record(const LidRecord& record) {
  return is_unicast(record.base) && record.lmc <= 7 &&
         record.base.value() + (1u << record.lmc) - 1 <= kTopUnicastLid.value();
}

class Assigner {
 public:
  Assigner(const Fabric& fabric, const LidBook& book, const LidPolicy& policy)
      : fabric_(fabric),
        book_(book),
        policy_(policy),
        base_(fabric.port_count(), kUnassignedLid),
        holder_(kTopUnicastLid.value() + 1u) {}

  Result<LidAssignment> run() {
    if (give_by_book()) {
      write_map();
      return std::move(out_);
    }
    gather();
    honour(claims_);
    honour(second_claims_);
    give_new_ones();
    const PortIdx own = fabric_.sm_port;
    if (own != kNone<PortIdx> && fabric_.is_end_port(own) && !has_lid(own) &&
        !make_room_for_own_port())
      return fail(Errc::Invalid,
                  fmt::format("LIDs {} … {} hold no {} LIDs in a row for the manager's own port",
                              policy_.min,
                              policy_.max,
                              1u << lmc_of(own)));
    write_map();
    write_book();
    return std::move(out_);
  }

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kReserved = 1;  // for a port in the book that is not here
  static constexpr std::uint32_t kPort = 2;      // + port index

  std::uint8_t lmc_of(PortIdx port) const { return smd::lmc_of(fabric_, port, policy_); }

  bool usable(Lid base, std::uint8_t lmc) const {
    const unsigned first = base.value();
    const unsigned last = first + (1u << lmc) - 1;
    return is_unicast(base) && base >= policy_.min && first % (1u << lmc) == 0 &&
           last <= policy_.max.value() && last <= kTopUnicastLid.value();
  }

  /// Where every end port has a record that it can keep, and nobody else claims its LIDs, no claim
  /// has to be the stronger one: most changes are such. False, and nothing has happened, elsewhere.
  bool give_by_book() {
    std::vector<char> is_present(book_.size(), 0);
    out_.book = book_;
    const auto claim = [this](unsigned first, std::uint8_t lmc, std::uint32_t holder) {
      for (unsigned lid = first; lid < first + (1u << lmc); ++lid) {
        if (std::exchange(holder_[lid], holder) != kFree) return false;
      }
      return true;
    };
    const auto keep = [&](PortIdx port) {
      const std::uint8_t lmc = lmc_of(port);
      const auto record = book_.find(fabric_.port_guid[port]);
      if (record == book_.end() || record->first == Guid{} || !usable(record->second.base, lmc))
        return false;
      if (!claim(record->second.base.value(), lmc, kPort + port.value())) return false;
      base_[port] = record->second.base;
      is_present[book_.index_of(record)] = 1;
      out_.book.nth(book_.index_of(record))->second.lmc = lmc;
      return true;
    };
    bool good = true;
    for (const PortIdx port : fabric_.peer.indices()) {
      if (!good) break;
      if (fabric_.is_end_port(port)) good = keep(port);
    }
    for (std::size_t i = 0; good && i < book_.size(); ++i) {
      const LidRecord& record = book_.nth(i)->second;
      good =
          is_record(record) && (is_present[i] || claim(record.base.value(), record.lmc, kReserved));
    }
    if (good) return true;
    out_ = {};
    base_.assign(fabric_.port_count(), kUnassignedLid);
    holder_.assign(holder_.size(), kFree);
    return false;
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
    // Whoever is away was on the manager's side, and comes back with running programs: a rack that
    // joins does not take its LIDs. Those who are there on that side go before it.
    const std::uint32_t own = fabric_.sm_node == kNone<NodeIdx>
                                  ? 1
                                  : std::max(1u, side_size[sides.find(fabric_.sm_node.value())]);
    for (const auto& [guid, record] : book_) {
      if (std::binary_search(present.begin(), present.end(), guid) || !is_record(record)) continue;
      claims_.push_back({.guid = guid,
                         .base = record.base,
                         .lmc = record.lmc,
                         .from_book = own == 1,
                         .side = own});
    }
  }

  // The strongest claim is served first: the larger side, then the book, then whoever is there,
  // then the smaller GUID.
  void honour(std::vector<Claim>& claims) {
    const auto strength = [](const Claim& c) {
      const bool is_away = !c.from_book && c.port == kNone<PortIdx>;
      return std::tuple(~c.side, !c.from_book, is_away, c.guid, c.port);
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

  bool has_lid(PortIdx port) const { return base_[port] != kUnassignedLid; }

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
    if (!reserve) base_[claim.port] = claim.base;
  }

  /// In node order. Where that does not serve all, the manager's own port and switches go first:
  /// without their LIDs more than one port is lost.
  void give_new_ones() {
    std::vector<PortIdx> wanting;
    for (const PortIdx port : fabric_.peer.indices()) {
      if (fabric_.is_end_port(port) && !has_lid(port)) wanting.push_back(port);
    }
    const auto before = std::pair(base_, holder_);
    if (give(wanting)) return;
    std::tie(base_, holder_) = before;
    std::ranges::stable_sort(wanting, {}, [this](PortIdx port) {
      return port == fabric_.sm_port ? 0 : fabric_.is_switch(fabric_.node_of[port]) ? 1 : 2;
    });
    give(wanting);
  }

  /// False when not all got some.
  bool give(const std::vector<PortIdx>& ports) {
    std::array<unsigned, 8> from{};  // per LMC: nothing below is free
    bool reuse = false;
    bool all = true;
    for (const PortIdx port : ports) {
      const std::uint8_t lmc = lmc_of(port);
      unsigned base = find_free(lmc, from[lmc], reuse);
      if (base == 0 && !reuse) {
        reuse = true;
        from = {};
        base = find_free(lmc, from[lmc], reuse);
      }
      all = all && base != 0;
      if (base != 0)
        take({.port = port, .base = Lid{static_cast<std::uint16_t>(base)}, .lmc = lmc});
    }
    return all;
  }

  /// From adapters and routers where that will do, the highest LIDs first: a switch that loses its
  /// LID is no longer polled. False where the range has no room even when it is empty.
  bool make_room_for_own_port() {
    const std::uint8_t lmc = lmc_of(fabric_.sm_port);
    const unsigned size = 1u << lmc;
    const unsigned min = std::max<unsigned>(policy_.min.value(), 1);
    const auto is_held_by_switch = [this](unsigned lid) {
      return holder_[lid] >= kPort &&
             fabric_.is_switch(fabric_.node_of[PortIdx{holder_[lid] - kPort}]);
    };
    for (const bool from_switches : {false, true}) {
      for (unsigned end = (policy_.max.value() + 1u) / size * size; end >= min + size;
           end -= size) {
        const unsigned base = end - size;
        bool may = true;
        for (unsigned lid = base; may && lid < end; ++lid)
          may = from_switches || !is_held_by_switch(lid);
        if (!may) continue;
        for (unsigned lid = base; lid < end; ++lid) {
          if (holder_[lid] >= kPort) release(PortIdx{holder_[lid] - kPort});
        }
        take({.port = fabric_.sm_port, .base = Lid{static_cast<std::uint16_t>(base)}, .lmc = lmc});
        give_new_ones();
        return true;
      }
    }
    return false;
  }

  void release(PortIdx port) {
    const unsigned first = base_[port].value();
    for (unsigned lid = first; lid < first + (1u << lmc_of(port)); ++lid) holder_[lid] = kFree;
    base_[port] = kUnassignedLid;
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

  void write_map() {
    out_.map = make_lid_map(fabric_);
    for (const PortIdx port : fabric_.peer.indices()) {
      if (has_lid(port)) {
        set_lid(out_.map, port, base_[port], lmc_of(port));
      } else if (fabric_.is_end_port(port)) {
        out_.without_lid.push_back(port);
      }
    }
    std::erase_if(out_.conflicts, [this](const LidConflict& each) { return !has_lid(each.moved); });
  }

  void write_book() {
    LidBook::sequence_type records;
    for (const auto& [guid, record] : book_) {
      if (!is_record(record)) continue;
      const unsigned last = record.base.value() + (1u << record.lmc) - 1u;
      bool reserved = true;
      for (unsigned lid = record.base.value(); reserved && lid <= last; ++lid)
        reserved = holder_[lid] == kReserved;
      if (reserved) records.emplace_back(guid, record);
    }
    for (const PortIdx port : fabric_.peer.indices()) {
      // A port without a GUID cannot be found again by it.
      if (has_lid(port) && fabric_.port_guid[port] != Guid{})
        records.emplace_back(fabric_.port_guid[port],
                             LidRecord{.base = out_.map.base[port], .lmc = out_.map.lmc[port]});
    }
    const auto guid_of = [](const auto& record) { return record.first; };
    std::ranges::stable_sort(records, {}, guid_of);
    const auto again = std::ranges::unique(records, {}, guid_of);  // the first record stands
    records.erase(again.begin(), again.end());
    out_.book.adopt_sequence(boost::container::ordered_unique_range, std::move(records));
  }

  const Fabric& fabric_;
  const LidBook& book_;
  const LidPolicy& policy_;
  std::vector<Claim> claims_;
  IndexVector<PortIdx, Lid> base_;     // given so far
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
  return Assigner{fabric, book, policy}.run();
}

std::uint8_t lmc_of(const Fabric& fabric, PortIdx port, const LidPolicy& policy) {
  const SwitchIdx sw = fabric.switch_at(port);
  if (sw == kNone<SwitchIdx>) return policy.lmc;
  return fabric.switch_info[sw].enhanced_port0 ? policy.lmc_enhanced_port0 : std::uint8_t{0};
}

std::string print_lid_shortage(const Fabric& fabric,
                               const std::vector<PortIdx>& without_lid,
                               const LidPolicy& policy) {
  constexpr std::size_t kMostNamed = 10;
  if (without_lid.empty()) return "";
  unsigned missing = 0;
  std::string names;
  for (std::size_t i = 0; i < without_lid.size(); ++i) {
    const std::uint8_t lmc = lmc_of(fabric, without_lid[i], policy);
    missing += 1u << lmc;
    if (i < kMostNamed)
      names += fmt::format("{}{} (port GUID {}, LMC {})",
                           i == 0 ? "" : ", ",
                           print_port(fabric, without_lid[i]),
                           fabric.port_guid[without_lid[i]],
                           lmc);
  }
  if (without_lid.size() > kMostNamed)
    names += fmt::format(" and {} more", without_lid.size() - kMostNamed);
  return fmt::format("no LIDs left for {} port{}, {} missing in {} … {}: {}",
                     without_lid.size(),
                     without_lid.size() == 1 ? "" : "s",
                     missing,
                     policy.min,
                     policy.max,
                     names);
}

}  // namespace smd
