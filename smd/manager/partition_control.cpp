#include "smd/manager/partition_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "smd/base/log.h"

namespace smd {
namespace {

/// What would not fit, where tables that have room for the rules in force have none for `wanted`:
/// the manager would not take them.
std::optional<KeyOverflow> find_new_overflow(const ActiveSubnet& now,
                                             const std::optional<PartitionPolicy>& wanted) {
  if (!wanted) return std::nullopt;
  const Fabric& fabric = now.fabric();
  PartitionMap map = build_partition_map(fabric, *wanted);
  for (const KeyOverflow& each : fit_keys(fabric, map, *wanted)) {
    if (!now.partitions || std::ranges::count(now.partitions->too_small, each.port) == 0)
      return each;
  }
  return std::nullopt;
}

}  // namespace

PartitionControl::PartitionControl(StateStore& store, Hooks hooks)
    : store_(store), hooks_(std::move(hooks)) {
  refresh();
  store_.changed().subscribe([this](const StateKind& kind) {
    if (kind != StateKind::kPartitionOrders || putting_) return;
    const auto replaced = std::exchange(waiting_, {});
    for (const Waiting& each : replaced)
      each.then(fail(Errc::Busy, "the orders of another manager came in place of this one"));
    bring_in("orders of the manager before");
  });
}

void PartitionControl::set_site(const PartitionsConfig& options,
                                const std::string& file,
                                std::string_view text) {
  options_ = options;
  site_ = {.file = file};
  if (!file.empty()) {
    if (auto reading = parse_partition_file(text, file)) site_.reading = std::move(*reading);
  }
  refresh();
}

void PartitionControl::refresh() {
  const std::vector<std::string> said = std::exchange(merged_, {}).conflicts;
  merged_ = merge_partitions(site_, kept());
  for (const std::string& each : merged_.conflicts) {
    if (std::ranges::find(said, each) == said.end()) log::warn("partition.conflict", "{}", each);
  }
}

std::optional<PartitionPolicy> PartitionControl::policy_with(const MergedPartitions& merged) const {
  if (site_.file.empty() && !merged.ordered) return std::nullopt;
  return PartitionPolicy{.rules = merged.rules,
                         .enforcement = options_.enforcement,
                         .allow_both = options_.allow_both};
}

void PartitionControl::apply(Settings& settings) const {
  settings.partitions = policy();
  settings.groups = merged_.rules.groups;
  settings.partition_rules = rules_;
}

Result<PartitionControl::Checked> PartitionControl::check(std::span<const PartitionOrder> wanted,
                                                          const ActiveSubnet& now) const {
  const Fabric& fabric = now.fabric();
  const Guid own = fabric.sm_port == kNone<PortIdx> ? Guid{} : fabric.port_guid[fabric.sm_port];
  PartitionOrders orders = this->orders();
  for (const PartitionOrder& each : wanted) {
    auto taken = take_order(site_, orders, each, own);
    if (!taken) return fail(Errc::Invalid, std::move(taken.error()));
    orders = std::move(*taken);
  }
  MergedPartitions merged = merge_partitions(site_, orders);
  Checked out{.orders = std::move(orders),
              .policy = policy_with(merged),
              .groups = std::move(merged.rules.groups)};
  if (const auto full = find_new_overflow(now, out.policy)) {
    const auto before = find_new_overflow(now, policy());
    return fail(
        Errc::Invalid,
        fmt::format("{}{}; fewer partitions for that port, or partitions.enforcement = "
                    "\"off\" where a switch is the one that is too small",
                    print_overflow(fabric, *full),
                    before ? "; so it is without this order, and what is in force is older" : ""));
  }
  return out;
}

void PartitionControl::put(const PartitionOrders& orders) {
  putting_ = true;
  store_.put_partition_orders(orders);
  putting_ = false;
}

void PartitionControl::carry_out(const PartitionOrders& orders,
                                 const std::string& reason,
                                 Saved then) {
  if (!is_keeping() && orders == this->orders()) return then({});
  if (waiting_.size() == kMostWaiting)
    return then(fail(Errc::Busy,
                     fmt::format("{} orders wait for the disk; ask again later", kMostWaiting)));
  if (!is_keeping()) kept_ = this->orders();
  const std::uint64_t number = ++last_number_;
  waiting_.push_back(
      {.number = number, .orders = orders, .reason = reason, .then = std::move(then)});
  put(orders);
  hooks_.when_kept([this, number](const Result<void>& kept) { on_kept(number, kept); });
}

/// With it, whatever was given before is kept.
void PartitionControl::on_kept(std::uint64_t number, const Result<void>& kept) {
  // Told before, with another.
  if (std::ranges::find(waiting_, number, &Waiting::number) == waiting_.end()) return;
  if (!kept) return fail_waiting(kept.error());
  std::vector<Waiting> done;
  while (!waiting_.empty() && waiting_.front().number <= number) {
    done.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  std::string reason;
  for (const Waiting& each : done) {
    if (std::exchange(kept_, each.orders) == each.orders) continue;  // given again
    log::info("partition.ordered", "what=\"{}\"", each.reason);
    reason = each.reason;
  }
  if (!reason.empty()) bring_in(reason);
  for (const Waiting& each : done) each.then({});
}

/// What would be gone after a restart is not begun.
void PartitionControl::fail_waiting(const Error& error) {
  const auto failed = std::exchange(waiting_, {});
  put(kept_);
  for (const Waiting& each : failed) {
    each.then(fail(
        error.code,
        fmt::format("nothing was changed, since the order cannot be kept: {}", error.context)));
  }
}

void PartitionControl::note_successor() {
  const auto given = std::exchange(waiting_, {});
  if (given.empty()) return;
  bring_in("orders that another manager may have");
  for (const Waiting& each : given)
    each.then(fail(Errc::Busy, "another manager is master; it says whether it has the order"));
}

void PartitionControl::bring_in(const std::string& reason) {
  refresh();
  rules_ = ++last_number_;
  hooks_.on_change(reason);
}

std::uint64_t PartitionControl::give(const PartitionOrders& orders,
                                     const std::string& reason,
                                     std::set<Guid> ports) {
  const std::uint64_t number = ++last_number_;
  given_ports_ += ports.size();
  given_.push_back({.number = number, .ports = std::move(ports)});
  while (given_.size() > kMostGiven || (given_.size() > 1 && given_ports_ > kMostGivenPorts)) {
    given_ports_ -= given_.front().ports.size();
    given_.pop_front();
  }
  carry_out(orders, reason, [this, number](const Result<void>& kept) {
    const auto at = std::ranges::lower_bound(given_, number, {}, &Given::number);
    if (at == given_.end() || at->number != number) return;
    if (kept) {
      at->rules = rules_;
    } else {
      at->refusal = kept.error();
    }
  });
  return number;
}

const PartitionControl::Given* PartitionControl::find_given(std::uint64_t number) const {
  const auto at = std::ranges::lower_bound(given_, number, {}, &Given::number);
  return at != given_.end() && at->number == number ? &*at : nullptr;
}

}  // namespace smd
