// `smd run`: keeps a manager and the administration of its subnet alive on a transport. Opens the
// device and waits with back-off while it cannot, answers the admin socket, feeds the watchdog,
// re-reads the configuration on SIGHUP, opens its log file anew on SIGHUP and SIGUSR1. SIGTERM
// leaves the fabric running.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "smd/config/config.h"
#include "smd/daemon/notifications.h"
#include "smd/daemon/servers.h"
#include "smd/daemon/session.h"
#include "smd/manager/partition_control.h"
#include "smd/report/dump.h"
#include "smd/runtime/asio_runtime.h"
#include "smd/state/state_directory.h"
#include "smd/state/state_files.h"
#include "smd/state/state_store.h"

namespace smd {

struct DaemonOptions {
  Config config;  // as load_options() gives it: files that it names are read when the daemon starts
  std::string config_path;                       // re-read on SIGHUP; empty: nothing to re-read
  std::function<void(Config&)> override_config;  // what the command line says on top of the file
  OptionNames overridden;                        // and about which options
  std::string log_trouble;                       // why log.sink could not be opened; empty: it was
  std::string version;                           // of the program
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
  struct Opened {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<Session> session;
  };

  /// Until the device can be opened.
  struct Waiting {
    std::string why;
    TimePoint since;
    TimePoint next_try;
  };

  /// What dumps depend on.
  struct DumpState {
    std::string directory;
    std::shared_ptr<const ActiveSubnet> subnet;
    std::uint64_t multicast_blocks = 0;  // that were written

    friend bool operator==(const DumpState&, const DumpState&) = default;
  };

  void open();
  void close();
  [[nodiscard]] SubnetManager::Observer observe();
  void retry_later(std::string_view event, const Error& error);
  void on_lost(const Error& error);
  void on_phase(Phase phase);
  void on_cycle(const CycleReport& cycle);
  void finish_once(const CycleReport& cycle);
  void reload();
  void refuse_reload(const std::string& fault, const std::string& why);
  void reopen_log();
  void move_log(const Config& fresh);
  void feed_watchdog();
  void tick();
  void tell_events();
  void keep_dumps();
  void write_dumps_once();
  void stop(int exit_code);
  [[nodiscard]] bool lock_state();
  [[nodiscard]] Faults read_files();
  void adopt_files(std::vector<NamedFile> files);
  void adopt_partition_file();
  [[nodiscard]] Settings settings() const;
  [[nodiscard]] std::vector<std::string> alarms() const;
  [[nodiscard]] std::string print_waiting() const;
  [[nodiscard]] AdminContext admin_context();
  [[nodiscard]] MetricsInput numbers() const;
  void note_role();
  void share_options();

  AsioRuntime& runtime_;
  DaemonOptions options_;
  OpenTransport open_;
  ServiceNotify notify_;
  std::string config_trouble_;     // why the file is refused; empty: it is in force, as the next
  std::optional<StateLock> lock_;  // of the state directory
  StateStore store_;
  StateFiles files_;
  PartitionControl partitions_;
  std::vector<NamedFile> named_files_;  // by the configuration, as they are in force
  EventProgram event_program_;
  std::uint64_t told_event_ = 0;  // the number of the latest
  DumpWriter asked_dumps_;        // by smctl
  DumpWriter kept_dumps_;         // of sm.dump_dir
  DumpState dumped_;              // what they were begun with last
  std::string dump_trouble_;      // of the last that ended; empty: none
  Servers servers_;
  std::optional<Opened> opened_;
  std::optional<Waiting> waiting_;
  Duration backoff_{0};
  Timer reopen_;
  Timer watchdog_;
  Timer tick_;
  Timer finish_;
  TimePoint started_;
  std::string answer_;  // of --once
  int exit_code_ = 0;
};

}  // namespace smd
