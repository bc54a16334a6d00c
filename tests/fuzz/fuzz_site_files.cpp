// Any bytes as the site's partition file, as orders on top of it and as its QoS policy: rules whose
// parts agree with each other, or between one and twenty faults, each with a line of its own.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "smd/policy/partition_file.h"
#include "smd/policy/partition_orders.h"
#include "smd/policy/qos_file.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const smd::Faults& faults) {
  require(!faults.empty() && faults.size() <= 20);
  for (const smd::Fault& each : faults) require(!each.message.empty() && each.line >= 0);
}

void check_partitions(const smd::PartitionFile& rules) {
  std::set<unsigned> keys;
  for (const smd::Partition& each : rules.partitions) {
    require(each.key > 0 && each.key <= smd::kDefaultPartition && !each.name.empty());
    require(keys.insert(each.key).second);
  }
  require(rules.partitions.front().key == smd::kDefaultPartition);
  std::set<smd::Gid> groups;
  for (const smd::PreconfiguredGroup& each : rules.groups) {
    require(each.mgid.prefix >> 56 == 0xff && groups.insert(each.mgid).second);
    require((each.mgid.prefix >> 48 & 0xf) == each.scope && each.flow_label < 1u << 20);
    require(keys.contains(each.p_key.value() & 0x7fffu));
  }
}

void read_partitions(const std::string& text) {
  const auto reading = smd::parse_partition_file(text, "fuzz");
  if (!reading) return check(reading.error());
  check_partitions(reading->rules);
}

/// Behind a line of dashes in the file that they stand on, which stays the first.
void read_orders(const std::string& text) {
  const std::size_t mark = text.find("\n---\n");
  const std::string own = text.substr(mark == std::string::npos ? 0 : mark + 5);
  const auto orders = smd::parse_partition_orders(own, "fuzz");
  if (!orders) {
    auto faults = orders.error();
    if (faults.size() == 21) faults.pop_back();  // how many more there are
    return check(faults);
  }
  const auto again = smd::parse_partition_orders(smd::print_partition_orders(*orders), "fuzz");
  require(again && *again == *orders);
  smd::SitePartitions site;
  if (mark != std::string::npos) {
    auto reading = smd::parse_partition_file(text.substr(0, mark + 1), "fuzz");
    if (reading) site = {.file = "fuzz", .reading = std::move(*reading)};
  }
  check_partitions(smd::merge_partitions(site, *orders).rules);
}

void read_qos(const std::string& text) {
  const auto reading = smd::parse_qos_file(text, "fuzz");
  if (!reading) return check(reading.error());
  const smd::QosFile& rules = reading->rules;
  require(rules.default_level < rules.levels.size());
  for (const smd::QosLevel& each : rules.levels) require(each.sl < 16);
  for (const smd::QosMatch& each : rules.matches) {
    require(each.level < rules.levels.size());
    for (const auto* groups : {&each.sources, &each.targets}) {
      for (const std::size_t group : *groups) require(group < rules.groups.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  read_partitions(text);
  read_orders(text);
  read_qos(text);
  return 0;
}
