// A subnet whose partitions are changed by command, as smd wires it: what an order writes, and what
// the hosts are answered afterwards.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "smd/admin/commands.h"
#include "smd/report/admin_commands.h"
#include "smd/sa/path_finder.h"
#include "tests/sim/succession.h"
#include "tests/support/multicast_subnet.h"

namespace smd::test {

using Json = nlohmann::json;
using Keys = std::vector<unsigned>;

/// Two leaf switches with two hosts each; the manager sits on one, software on the others.
inline constexpr const char* kFabric = "fat-tree:k=4,levels=2,hosts=4";

inline constexpr std::uint16_t kNoRecords = 0x0300;

inline Settings settings_with(const std::string& file) {
  Settings out = quiet_settings();
  if (file.empty()) return out;
  out.partitions = PartitionPolicy{.rules = parse_partition_file(file, "p").value().rules};
  out.groups = out.partitions->rules.groups;
  return out;
}

/// Partitions of a manager, as the daemon wires them.
inline std::unique_ptr<PartitionControl> make_control(
    StateStore& store,
    std::function<SubnetManager&()> manager,
    std::function<void(PartitionControl::Saved)> when_kept =
        [](const PartitionControl::Saved& then) { then({}); }) {
  const auto made = std::make_shared<PartitionControl*>();
  auto out = std::make_unique<PartitionControl>(
      store,
      PartitionControl::Hooks{
          .when_kept = std::move(when_kept),
          .on_change = [made, manager = std::move(manager)](std::string reason) {
            manager().adopt_partitions((*made)->policy(),
                                       (*made)->merged().rules.groups,
                                       (*made)->rules(),
                                       std::move(reason));
          }});
  *made = out.get();
  return out;
}

/// Of calls that are answered at once, as where nothing is written to a disk.
inline HttpAnswer answer_of(UfmCalls& calls, const HttpRequest& request) {
  HttpAnswer out{.status = 0, .body = nullptr};
  calls.answer(request, [&out](HttpAnswer answer) { out = std::move(answer); });
  return out;
}

/// A manager whose partitions are changed by command, and hosts that ask it.
struct Ordered : MulticastSubnet {
  explicit Ordered(const std::string& file = "Site=0x11: ALL=full;", sim::AgentOptions agents = {})
      : MulticastSubnet(kFabric, settings_with(file), agents),
        made(make_control(
            store,
            [this]() -> SubnetManager& { return manager; },
            [this](const PartitionControl::Saved& then) {
              is_disk_slow ? writes.push_back(then) : then({});
            })),
        control(*made) {
    control.set_site({}, file.empty() ? "" : "p.conf", file);
    register_commands(table, context());
    tap.on_send = [this](const Smp& smp) {
      if (smp.method == Method::Get) ++gets;
      if (smp.method == Method::Set) ++sets[AttributeId{smp.attribute_id}];
      return true;
    };
  }

  AdminContext context() {
    return {.manager = [this] { return &manager; },
            .transport = [this]() -> Transport* { return &transport; },
            .shutdown = [] {},
            .uptime = [] { return Duration{0}; },
            .partitions = &control};
  }

  void bring_up() {
    ASSERT_TRUE(SimulatedSubnet::bring_up());
    attach_hosts([this](const MadPacket& packet) {
      const SaHeader header = *decode_sa_header(packet.mad);
      status[header.mad.transaction_id] = header.mad.status;
    });
    forget();
  }

  void forget() {
    sets.clear();
    gets = 0;
  }

  /// Those that a slow disk has not done yet.
  void end_writes(const Result<void>& result) {
    for (const PartitionControl::Saved& each : std::exchange(writes, {})) each(result);
  }

  bool settle() {
    run_for(5ms);
    return run_until([this] { return at_rest() && !manager.is_adopting_partitions(); }, 60s);
  }

  Json answer(Json args) {
    return Json::parse(
        table.answer(Json{{"command", "partition"}, {"args", std::move(args)}}.dump()));
  }

  /// Of an order that is taken.
  Json order(Json args) {
    const Json got = answer(std::move(args));
    EXPECT_TRUE(got.at("ok").get<bool>()) << got;
    EXPECT_TRUE(settle());
    return got.value("result", Json());
  }

  /// The number of an order that is taken, which may not be in force yet.
  std::uint64_t give(Json args) {
    const Json got = answer(std::move(args));
    EXPECT_TRUE(got.at("ok").get<bool>()) << got;
    return got.value("/result/order"_json_pointer, std::uint64_t{0});
  }

  Json progress(std::uint64_t order) {
    const Json got = answer({{"order", order}});
    EXPECT_TRUE(got.at("ok").get<bool>()) << got;
    return got.value("result", Json::object());
  }

  /// Of one that is not: one line.
  std::string refusal(Json args) {
    const PartitionOrders before = control.orders();
    const Json got = answer(std::move(args));
    EXPECT_FALSE(got.at("ok").get<bool>()) << got;
    EXPECT_EQ(control.orders(), before);
    EXPECT_FALSE(manager.is_adopting_partitions());
    std::string error = got.value("error", "");
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    return error;
  }

  std::string print_guid(std::size_t host) const { return fmt::format("{}", guid(host)); }

  Json create_red(std::initializer_list<std::size_t> members) const {
    Json ports = Json::array();
    for (const std::size_t host : members) ports.push_back(print_guid(host));
    return {{"verb", "create"},
            {"partition", "Red"},
            {"p_key", "0x20"},
            {"ports", ports},
            {"ipoib", Json::object()}};
  }

  template <class Record>
  std::uint16_t ask(std::size_t host,
                    Method method,
                    RecordId id,
                    std::uint64_t mask,
                    const Record& said,
                    std::size_t size) {
    static_cast<void>(hosts.at(host)->send(encode_sa_request({.manager = snapshot_lid(),
                                                              .transaction = ++transaction,
                                                              .method = method,
                                                              .id = id,
                                                              .mask = mask},
                                                             said,
                                                             size)));
    run_for(20ms);
    EXPECT_TRUE(status.contains(transaction));
    return status[transaction];
  }

  std::uint16_t ask_path(std::size_t from, std::size_t to, PKey key) {
    namespace part = path_component;
    return ask(from,
               Method::Get,
               RecordId::PathRecord,
               part::kSgid | part::kDgid | part::kPKey,
               PathRecord{.dgid = gid(to), .sgid = gid(from), .p_key = key},
               kPathRecordSize);
  }

  std::uint16_t join(std::size_t host, PKey key) {
    namespace part = member_component;
    return ask(
        host,
        Method::Set,
        RecordId::McMemberRecord,
        part::kMgid | part::kPortGid | part::kPKey | part::kJoinState,
        McMemberRecord{
            .mgid = ipoib_broadcast(key), .port_gid = gid(host), .p_key = key, .join_state = 1},
        kMcMemberRecord.size);
  }

  static Keys trimmed(const std::vector<PKey>& table) {
    Keys keys;
    for (std::size_t i = 0; i < used_entries(table); ++i) keys.push_back(table[i].value());
    return keys;
  }

  std::uint32_t node_of(std::size_t host) const {
    const auto& nodes = fabric.spec().nodes;
    const auto at = std::ranges::find_if(nodes, [guid = guid(host)](const sim::NodeSpec& node) {
      return node.type == NodeType::Ca && node.ports[1].guid == guid;
    });
    return static_cast<std::uint32_t>(at - nodes.begin());
  }

  const sim::PortRegs& port(std::size_t host) const {
    return fabric.node_state(node_of(host)).ports[1];
  }

  const sim::PortRegs& leaf(std::size_t host) const {
    const sim::PortSpec& cable = fabric.spec().nodes[node_of(host)].ports[1];
    return fabric.node_state(cable.peer_node).ports[cable.peer_port.value()];
  }

  Keys keys(std::size_t host) const {
    const Keys held = trimmed(port(host).p_keys);
    EXPECT_THAT(trimmed(leaf(host).p_keys), testing::UnorderedElementsAreArray(held)) << "enforced";
    return held;
  }

  CommandTable table;
  bool is_disk_slow = false;
  std::vector<PartitionControl::Saved> writes;
  std::unique_ptr<PartitionControl> made;
  PartitionControl& control;
  std::map<AttributeId, unsigned> sets;
  unsigned gets = 0;
  std::uint64_t transaction = 0;
  std::map<std::uint64_t, std::uint16_t> status;  // of answers, by transaction
};

}  // namespace smd::test
