// What a daemon listens on: its admin socket, its page of numbers, calls over HTTP, and other
// managers. A fabric whose manager nobody can ask is better than one without a manager: what cannot
// be opened is tried again, and said meanwhile.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smd/admin/commands.h"
#include "smd/admin/http_server.h"
#include "smd/admin/socket_server.h"
#include "smd/config/config.h"
#include "smd/daemon/standby_replication.h"
#include "smd/replica/tls.h"
#include "smd/report/admin_commands.h"
#include "smd/report/metrics.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/state/state_store.h"

namespace smd {

class Servers {
 public:
  struct Hooks {
    std::function<AdminContext()> context;  // of who asks on the socket or over HTTP
    std::function<MetricsInput()> numbers;
    std::function<void()> on_replica_opened;  // it knows neither role nor options yet
    replica::WallClock wall;
  };

  /// `config` is as it is in force at each moment: its addresses stay until a restart.
  Servers(AsioRuntime& runtime, const Config& config, StateStore& store, Hooks hooks);
  Servers(const Servers&) = delete;

  /// All that the configuration names. False: another daemon listens on the admin socket, and
  /// nothing else was opened.
  [[nodiscard]] bool open();

  /// After a reload: paths of certificates and tokens stay until a restart; what stands in the
  /// files comes into force at once for calls over HTTP, and is said to wait for a restart
  /// elsewhere.
  void read_key_files_again();

  /// What is not as the configuration says.
  [[nodiscard]] std::vector<std::string> alarms() const;

  /// Null where there are no other managers, or not yet.
  [[nodiscard]] StandbyReplication* replica() { return replica_.get(); }

  [[nodiscard]] std::optional<ReplicaView> replica_view() const;

  /// Nothing where nobody can call over HTTP.
  [[nodiscard]] std::optional<RestStats> rest_stats() const;

 private:
  void open_all();
  [[nodiscard]] bool open_admin();
  void open_metrics();
  void open_rest();
  [[nodiscard]] Result<void> listen_for_rest();
  [[nodiscard]] Result<void> take_rest_files();
  void open_replica();

  AsioRuntime& runtime_;
  const Config& config_;
  StateStore& store_;
  Hooks hooks_;
  CommandTable commands_;
  std::unique_ptr<SocketServer> admin_;
  std::unique_ptr<HttpServer> metrics_;
  std::unique_ptr<UfmCalls> ufm_;
  std::unique_ptr<HttpServer> rest_;  // calls `ufm_`
  std::unique_ptr<replica::TlsNetwork> network_;
  std::unique_ptr<StandbyReplication> replica_;
  std::map<std::string, std::string> key_files_;  // text that servers were given, by option

  // Why one of them is not open; empty: it is, or shall not be.
  std::string admin_trouble_;
  std::string metrics_trouble_;
  std::string rest_trouble_;
  std::string replica_trouble_;

  Timer open_again_;
};

}  // namespace smd
