#include "smd/manager/partition_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
    if (kind != StateKind::kPartitionOrders || carrying_out_) return;
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
  merged_ = merge_partitions(site_, orders());
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

Result<void> PartitionControl::carry_out(const PartitionOrders& orders, const std::string& reason) {
  const PartitionOrders before = this->orders();
  if (orders == before) return {};
  carrying_out_ = true;
  store_.put_partition_orders(orders);
  Result<void> kept = hooks_.last_save();
  // What would be gone after a restart is not begun.
  if (!kept) store_.put_partition_orders(before);
  carrying_out_ = false;
  if (!kept)
    return fail(Errc::Io,
                fmt::format("nothing was changed, since the order cannot be kept: {}",
                            kept.error().context));
  log::info("partition.ordered", "what=\"{}\"", reason);
  bring_in(reason);
  return {};
}

void PartitionControl::bring_in(const std::string& reason) {
  refresh();
  rules_ = ++last_number_;
  hooks_.on_change(reason);
}

std::uint64_t PartitionControl::note_given(std::set<Guid> ports) {
  if (given_.size() == kMostGiven) given_.pop_front();
  given_.push_back({.number = ++last_number_, .rules = rules_, .ports = std::move(ports)});
  return last_number_;
}

const PartitionControl::Given* PartitionControl::find_given(std::uint64_t number) const {
  const auto at = std::ranges::lower_bound(given_, number, {}, &Given::number);
  return at != given_.end() && at->number == number ? &*at : nullptr;
}

}  // namespace smd
