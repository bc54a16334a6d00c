// What `smsim run` reads (docs/formats/scenario.md): a fabric, routes, traffic, measures.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim-backend/adaptive/rule.h"
#include "sim-backend/congestion/preset.h"
#include "sim-backend/measure/steady.h"
#include "sim-backend/packet/packet_options.h"
#include "sim-backend/scenario/computing_runtime.h"
#include "sim-backend/scenario/fault_plan.h"
#include "sim-backend/scenario/group_tables.h"
#include "sim-backend/scenario/programmed_nodes.h"
#include "sim-backend/scenario/worm_run.h"
#include "sim-backend/traffic/collective.h"
#include "sim-backend/traffic/synthetic.h"
#include "smd/config/reconfiguration_mode.h"

namespace smd::sim {

/// Rules in place of the switches' tables, and the shape that they go by.
struct RoutesSpec {
  RuleSpec rule;
  ShapeKeys shape;

  [[nodiscard]] bool has_rule() const { return rule.rule != RuleKind::Tables; }
};

struct TrafficSpec {
  std::string pattern = "uniform";
  std::vector<double> loads{0.5};
  ArrivalModel arrivals;
  std::vector<SizeShare> sizes{{2048, 1}};
  SlChoice sl_choice = SlChoice::Path;
  std::uint8_t sl = 0;
  bool any_lid = false;            // of the destination's; else its first
  std::uint32_t destinations = 1;  // of a message, where worms go to several
  double multicast_share = 1;      // of messages: to so many, or to a group; the rest to one
  double share = 0.2;
  std::uint32_t targets = 1;
  std::uint32_t radius = 3;
  std::vector<std::uint32_t> dims;
  std::uint32_t switches_per_group = 0;
  bool among_rails = false;                  // each rail has the pattern or collective to itself
  std::optional<CollectiveKind> collective;  // instead of a pattern
  std::uint64_t bytes = 65536;
  std::uint64_t segment = 0;         // of some collectives: bytes passed on at a time; 0: all
  Picos combining = 100 * kNano;     // of in-network-all-reduce: of a packet
  std::uint32_t combine_radix = 64;  // what a switch combines at most
  std::string trace;                 // instead of both: a file
};

struct MeasureSpec {
  SteadyPlan plan;
  bool saturation = false;
  double tolerance = 0.02;
  Picos limit = kSecond;  // of a collective, a trace, a network that changes
};

/// The manager of a network that changes.
struct ManagerSpec {
  ReconfigurationMode how;
  ComputingTime computing;
  Duration drain = std::chrono::milliseconds(1);
  Duration debounce = std::chrono::milliseconds(3);
  Duration sweep_interval{0};
  Lid lid_min{1};  // no key: blocks of tables below it are empty
};

enum class NetModel : std::uint8_t {
  Packets,  // InfiniBand: packets move whole, by credits
  Worms     // source routes, connections that are held
};

struct Scenario {
  std::string file;
  std::string fabric = "fat-tree:k=8,levels=2";
  int fabric_line = 0;
  NetModel model = NetModel::Packets;
  std::string preset = "modern";  // "myrinet" where the model is that of worms
  ProgramOptions program;
  PacketOptions packet = PacketOptions::modern();
  WormSpec worm;
  RoutesSpec routes;
  int routes_line = 0;
  CongestionSpec congestion;
  TrafficSpec traffic;
  int traffic_line = 0;
  MeasureSpec measure;
  ManagerSpec manager;
  std::vector<GroupText> groups;  // of packets
  TreeShape multicast_trees = TreeShape::UpDown;
  std::vector<FaultText> faults;  // with any, the manager takes part; of worms there is none
  std::map<std::string, int, std::less<>> lines;  // of the keys that the file has: "fabric.name"

  /// 0: the file does not have it.
  [[nodiscard]] int line_of(std::string_view key) const {
    const auto found = lines.find(key);
    return found == lines.end() ? 0 : found->second;
  }

  [[nodiscard]] bool is_managed() const { return !faults.empty() && model == NetModel::Packets; }

  /// Bytes of payload.
  [[nodiscard]] unsigned largest_packet() const;
};

/// Every fault with its line.
[[nodiscard]] Parsed<Scenario> parse_scenario(std::string_view text, const std::string& file);

/// All keys with their values and meaning, as docs/formats/scenario.md shows them.
[[nodiscard]] std::string list_scenario_keys();

}  // namespace smd::sim
