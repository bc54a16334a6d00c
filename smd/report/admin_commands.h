// The daemon's side of smctl: each command reads what is in force, or asks the manager for
// something.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "smd/admin/commands.h"
#include "smd/admin/http_server.h"
#include "smd/base/log.h"
#include "smd/manager/partition_control.h"
#include "smd/report/dump.h"
#include "smd/report/session_view.h"

namespace smd {

struct AdminContext {
  std::function<SubnetManager*()> manager;  // null while no device is open
  std::function<Transport*()> transport;
  std::function<void()> shutdown;
  std::function<Duration()> uptime;

  /// May be empty, and may give nothing: then it is left out.
  std::function<std::optional<SaView>()> sa;
  std::function<const CcManager*()> congestion;
  std::function<const PathWatch*()> watch;
  std::function<std::optional<ReplicaView>()> replica;
  std::function<std::vector<std::string>()> alarms;  // of the daemon itself
  DumpWriter* dumps = nullptr;                       // of those that are asked for
  PartitionControl* partitions = nullptr;
  std::string version;  // of the program
};

/// One line of JSON: "number", "time", "level", "event", "text", and "fields", what `text` says as
/// key=value. All values are texts but the number.
[[nodiscard]] std::string print_event(const log::Entry& entry);

/// Busy: the subnet is not up yet, or another manager is master, and which.
[[nodiscard]] Result<const ActiveSubnet*> in_force(const AdminContext& context);

/// And takes orders: Busy also while it is handed over.
[[nodiscard]] Result<const ActiveSubnet*> in_order(const AdminContext& context);

/// What there is, or an order; without a `verb`, whether the last one is in force.
[[nodiscard]] Result<nlohmann::json> answer_partition_command(const AdminContext& context,
                                                              const nlohmann::json& args);

// UFM's calls on partitions and ports (docs/formats/rest.md), over what `smctl partition` does.

struct RestStats {
  std::uint64_t answered = 0;
  std::uint64_t refused = 0;       // wrong, contradicted by the partition file, or not now
  std::uint64_t unauthorized = 0;  // no token
  HttpStats server{};              // what never became a call
};

class UfmCalls {
 public:
  struct Options {
    std::vector<std::string> tokens;  // empty: whoever gets here may call
    bool show_keys = false;
  };

  UfmCalls(AdminContext context, Options options);

  /// Total: any request gets an answer, an order when it is kept. Whoever shows no token changes
  /// and learns nothing. Requires: this is there until then.
  void answer(const HttpRequest& request, const HttpServer::Answer& then);

  /// In place of those of before.
  void take_tokens(std::vector<std::string> tokens) { options_.tokens = std::move(tokens); }

  /// `server` is left to whoever has it.
  [[nodiscard]] const RestStats& stats() const { return stats_; }

 private:
  [[nodiscard]] HttpAnswer refuse(unsigned status, const std::string& line);

  AdminContext context_;
  Options options_;
  RestStats stats_;
};

/// status, fabric, nodes, links, port, route, sweep, engine, changes, multicast, congestion, log,
/// events, sa, dump, partition, shutdown.
void register_commands(CommandTable& table, AdminContext context);

}  // namespace smd
