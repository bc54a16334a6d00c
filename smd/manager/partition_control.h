// The partitions of the site while the manager runs: what the partition file says and what was
// ordered on top of it, kept in the store, and what of the orders the file contradicts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "smd/config/settings.h"
#include "smd/policy/partition_orders.h"
#include "smd/state/state_store.h"
#include "smd/subnet/active_subnet.h"

namespace smd {

class PartitionControl {
 public:
  using Saved = std::function<void(const Result<void>&)>;

  struct Hooks {
    /// Tells once, now or later, whether what the store holds is kept.
    std::function<void(Saved then)> when_kept = [](const Saved& then) { then({}); };

    /// Partitions are others than before, and shall come into force.
    std::function<void(std::string reason)> on_change = [](const std::string&) {};
  };

  /// `store` outlives this. What a master sends us into it counts as well.
  PartitionControl(StateStore& store, Hooks hooks);
  PartitionControl(const PartitionControl&) = delete;

  /// The options, and the text of the file that is in force, which has no fault; `file` is its
  /// name, or empty where none is named. Orders that it contradicts are said once. Whoever calls
  /// this brings the settings in himself.
  void set_site(const PartitionsConfig& options, const std::string& file, std::string_view text);

  /// File and orders together, in place of what the file says.
  void apply(Settings& settings) const;

  /// Nothing where nobody said anything of partitions.
  [[nodiscard]] std::optional<PartitionPolicy> policy() const { return policy_with(merged_); }

  [[nodiscard]] const MergedPartitions& merged() const { return merged_; }

  [[nodiscard]] const SitePartitions& site() const { return site_; }

  [[nodiscard]] const PartitionOrders& orders() const { return store_.get().partitions; }

  /// An order that is taken, and what it makes of the partitions.
  struct Checked {
    PartitionOrders orders;
    std::optional<PartitionPolicy> policy;
    std::vector<PreconfiguredGroup> groups;
  };

  /// Checks them, one after another, against file, orders and the room in the tables of `now`: all
  /// are taken, or none; nothing changes.
  [[nodiscard]] Result<Checked> check(std::span<const PartitionOrder> wanted,
                                      const ActiveSubnet& now) const;

  /// Brings the orders in once they are kept, with all that were given before, and tells `then`,
  /// which may be at once. Where they cannot be kept nothing has changed, and orders that were
  /// given meanwhile, on top of these, are not kept either. Busy where the disk takes too long,
  /// where kMostWaiting wait for it, or another manager's orders came in their place.
  void carry_out(const PartitionOrders& orders, const std::string& reason, Saved then);

  /// Another manager is master, and may have what waits: that is told Busy, and stays in the store
  /// until that manager sends what counts.
  void note_successor();

  /// Some that were given are not kept yet.
  [[nodiscard]] bool is_keeping() const { return !waiting_.empty(); }

  /// Of the partitions as they are: it grows with every change by orders.
  [[nodiscard]] std::uint64_t rules() const { return rules_; }

  /// An order that somebody may ask about.
  struct Given {
    std::uint64_t number = 0;
    std::set<Guid> ports;                  // whose membership it is about
    std::optional<std::uint64_t> rules{};  // it is in force with these; nothing: it is not kept yet
    std::optional<Error> refusal{};        // it could not be kept
  };

  /// Carries it out. Its number; no two have the same.
  std::uint64_t give(const PartitionOrders& orders,
                     const std::string& reason,
                     std::set<Guid> ports);

  /// Null where there is none of that number, or none any more: the last kMostGiven are known, of
  /// kMostGivenPorts ports together.
  [[nodiscard]] const Given* find_given(std::uint64_t number) const;

  static constexpr std::size_t kMostGiven = 1000;
  static constexpr std::size_t kMostGivenPorts = 200'000;

  /// That wait at once: each holds all orders.
  static constexpr std::size_t kMostWaiting = 100;

  /// What of the orders is not in force: a line each.
  [[nodiscard]] const std::vector<std::string>& conflicts() const { return merged_.conflicts; }

 private:
  struct Waiting {
    std::uint64_t number = 0;
    PartitionOrders orders;
    std::string reason;
    Saved then;
  };

  void refresh();
  void put(const PartitionOrders& orders);
  void on_kept(std::uint64_t number, const Result<void>& kept);
  void fail_waiting(const Error& error);
  void bring_in(const std::string& reason);

  /// What comes into force.
  [[nodiscard]] const PartitionOrders& kept() const { return is_keeping() ? kept_ : orders(); }

  [[nodiscard]] std::optional<PartitionPolicy> policy_with(const MergedPartitions& merged) const;

  StateStore& store_;
  Hooks hooks_;
  PartitionsConfig options_;
  SitePartitions site_;
  MergedPartitions merged_;
  std::uint64_t last_number_ = 0;
  std::uint64_t rules_ = 0;
  std::deque<Given> given_;      // by number, ascending
  std::size_t given_ports_ = 0;  // in all of them
  std::deque<Waiting> waiting_;
  PartitionOrders kept_;  // before those that wait
  bool putting_ = false;
};

}  // namespace smd
