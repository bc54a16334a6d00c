// `smd run`: keeps a manager and the administration of its subnet alive on a transport. Opens the
// device and waits with back-off while it cannot, answers the admin socket, feeds the watchdog,
// re-reads the configuration on SIGHUP. SIGTERM leaves the fabric running.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "smd/admin/commands.h"
#include "smd/admin/socket_server.h"
#include "smd/app/administration.h"
#include "smd/app/alias_writer.h"
#include "smd/app/client_call.h"
#include "smd/app/config.h"
#include "smd/app/congestion_desk.h"
#include "smd/app/record_store.h"
#include "smd/app/service_notify.h"
#include "smd/app/subnet_manager.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/sa/group_keeper.h"
#include "smd/transport/class_split.h"

namespace smd::app {

struct DaemonOptions {
  Config config;
  std::string config_path;                       // re-read on SIGHUP; empty: nothing to re-read
  std::function<void(Config&)> override_config;  // what the command line says on top of the file
  bool once = false;                             // one bring-up, then the exit code
  bool json = false;
};

class Daemon {
 public:
  using OpenTransport =
      std::function<Result<std::unique_ptr<Transport>>(AsioRuntime&, const Config&)>;

  Daemon(AsioRuntime& runtime, DaemonOptions options, OpenTransport open);
  ~Daemon();
  Daemon(const Daemon&) = delete;

  /// Runs until a signal, a shutdown command, or the end of --once; returns the exit code.
  [[nodiscard]] int run();

 private:
  /// What lives exactly as long as one opened device. Destroyed in reverse order.
  struct Session {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<ClassSplit> split;
    std::unique_ptr<Administration> administration;
    std::unique_ptr<CongestionDesk> congestion;
    std::unique_ptr<SubnetManager> manager;
    std::unique_ptr<AliasWriter> aliases;
    std::unique_ptr<ClientCall> clients;
    std::unique_ptr<sa::GroupKeeper> groups;
  };

  void open();
  void close();
  void adopt_view();
  [[nodiscard]] KeptRecords collect() const;
  void retry_later(std::string_view event, const Error& error);
  void on_lost(const Error& error);
  void on_phase(Phase phase);
  void on_cycle(const CycleReport& cycle);
  void finish_once(const CycleReport& cycle);
  void reload();
  void feed_watchdog();
  void stop(int exit_code);
  [[nodiscard]] bool start_admin();

  AsioRuntime& runtime_;
  DaemonOptions options_;
  OpenTransport open_;
  ServiceNotify notify_;
  CommandTable commands_;
  std::unique_ptr<SocketServer> admin_;
  Kept kept_;
  RecordStore records_;
  KeptRecords left_;  // by clients, when the last session ended
  std::optional<Session> session_;
  Duration backoff_{0};
  Timer reopen_;
  Timer watchdog_;
  Timer finish_;
  TimePoint started_;
  int exit_code_ = 0;
};

}  // namespace smd::app
