#include "smd/daemon/daemon.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "smd/base/log.h"
#include "smd/report/cycle_text.h"
#include "smd/routing/engine.h"

namespace smd {
namespace {

/// Between two checks whether what --once waits for is done.
constexpr Duration kFinishPause = std::chrono::milliseconds(5);

/// Between two checks for log lines that were left out in a period that is over, for what dumps no
/// longer show, and for events that nobody was told of.
constexpr Duration kTick = std::chrono::seconds(1);

/// A boot in which the adapter's driver takes its time is no trouble.
constexpr Duration kDevicePatience = std::chrono::seconds(5);

/// Why a running daemon cannot go on with `fresh`, which is `in_force` until a restart; empty when
/// it can. The file that it was read from breaks no rule about what it alone says.
std::string find_unusable(const Config& running, const Config& fresh, const Config& in_force) {
  if (const auto broken = find_broken_rules(fresh); !broken.empty())
    return "with what the command line says: " + broken.front().why;
  if (const auto broken = find_broken_rules(in_force); !broken.empty())
    return "with what stays as it is until a restart: " + broken.front().why +
           "; restart smd for the new one";
  for (const std::string& engine : fresh.sm.engine) {
    if (find_engine(engine) == nullptr) return fmt::format("no engine is called '{}'", engine);
  }
  const MKeySources now = make_settings(running).m_keys, then = make_settings(fresh).m_keys;
  if (!now.empty() && then.empty())
    return "without any M_Key the ports that have one could not be set; set sm.m_key_protect to 0, "
           "reload, and restart smd without the key then";
  if (!now.empty() && std::ranges::find(then, now.front()) == then.end()) {
    return "the M_Keys that protect the ports now are not among the new ones; keep their line in "
           "sm.m_key_file, behind the new one";
  }
  return "";
}

/// What a running daemon cannot change stays as it is, so that the next reload names it again.
void keep_until_restart(const Config& running, Config& fresh) {
  fresh.transport = running.transport;
  fresh.smp = running.smp;
  fresh.admin = running.admin;
  fresh.metrics = running.metrics;
  fresh.rest = running.rest;
  fresh.sm.state_dir = running.sm.state_dir;
  fresh.replica = running.replica;
}

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void log_remarks(const Config& config) {
  for (const Fault& each : find_remarks(config))
    log::warn("config.remark", "{}", print_fault(each));
  for (const Fault& each : config.partitions.remarks)
    log::warn("partition.remark", "{}", print_fault(each));
  for (const Fault& each : config.qos.remarks) log::warn("qos.remark", "{}", print_fault(each));
}

}  // namespace

Daemon::Daemon(AsioRuntime& runtime, DaemonOptions options, OpenTransport open)
    : runtime_(runtime),
      options_(std::move(options)),
      open_(std::move(open)),
      files_(runtime, store_, options_.config.sm.state_dir, wall_ms),
      partitions_(store_,
                  {.when_kept =
                       [this](PartitionControl::Saved then) {
                         files_.when_saved(StateKind::kPartitionOrders, std::move(then));
                       },
                   .on_change =
                       [this](std::string reason) {
                         if (!opened_) return;
                         opened_->session->manager().adopt_partitions(
                             partitions_.policy(),
                             partitions_.merged().rules.groups,
                             partitions_.rules(),
                             std::move(reason));
                       }}),
      event_program_(runtime),
      asked_dumps_(runtime),
      kept_dumps_(runtime),
      servers_(runtime,
               options_.config,
               store_,
               {.context = [this] { return admin_context(); },
                .numbers = [this] { return numbers(); },
                .on_replica_opened =
                    [this] {
                      share_options();
                      note_role();
                    },
                .wall = wall_ms}),
      started_(runtime.now()) {
  store_.changed().subscribe([this](const StateKind& kind) {
    files_.note_change(kind);
    if (StandbyReplication* replica = servers_.replica()) replica->note_change(kind);
  });
}

Daemon::~Daemon() = default;

/// Before anything of the state is read. False: another process has it.
bool Daemon::lock_state() {
  auto lock = StateLock::take(options_.config.sm.state_dir);
  if (lock) {
    lock_.emplace(std::move(*lock));
    return true;
  }
  if (lock.error().code == Errc::Busy) {
    fmt::print(stderr, "smd: {}\n", lock.error().context);
    return false;
  }
  // A manager that forgets is better than none.
  log::warn("state.lock",
            "why=\"{}\"; nothing is kept over a restart: let this user write there, or set "
            "sm.state_dir",
            lock.error().context);
  return true;
}

/// Those that the configuration names. A file that has faults is no reason to leave the fabric
/// without a manager, where it is known what it said before.
Faults Daemon::read_files() {
  const std::string& state_dir = options_.config.sm.state_dir;
  auto files = read_named_files(options_.config, find_last_good(state_dir));
  if (!files) return std::move(files.error());
  for (const NamedFile& each : *files) {
    if (each.faults.empty()) continue;
    for (const Fault& fault : each.faults) log::error("config.fault", "{}", print_fault(fault));
    log::error("config.last_good", "kind={} in_force={}", each.kind, each.at);
  }
  adopt_files(std::move(*files));
  adopt_partition_file();
  return {};
}

/// The one of the configuration that is in force, below what was ordered.
void Daemon::adopt_partition_file() {
  const auto file = std::ranges::find(named_files_, "partitions", &NamedFile::kind);
  const PartitionsConfig& options = options_.config.partitions;
  if (file == named_files_.end()) return partitions_.set_site(options, "", "");
  partitions_.set_site(options, file->faults.empty() ? options.file : file->at, file->text);
}

Settings Daemon::settings() const {
  Settings out = make_settings(options_.config);
  partitions_.apply(out);
  return out;
}

/// They are in force from now on.
void Daemon::adopt_files(std::vector<NamedFile> files) {
  for (const NamedFile& before : named_files_) {
    if (!before.faults.empty()) log::info("config.mended", "kind={}", before.kind);
  }
  named_files_ = std::move(files);
  if (!lock_) return;  // the state directory is not ours
  const std::string& state_dir = options_.config.sm.state_dir;
  for (const std::string_view kind : find_unnamed(state_dir, named_files_)) {
    log::warn("config.unnamed",
              "kind={} kept={}; the configuration named such a file before, and what it said is "
              "not in force any more",
              kind,
              unnamed_path(state_dir, kind));
  }
  files_.keep_copies(named_files_);
}

/// What is not as the configuration says, beside what the manager knows.
std::vector<std::string> Daemon::alarms() const {
  std::vector<std::string> out;
  if (waiting_ && runtime_.now() - waiting_->since >= kDevicePatience)
    out.push_back(print_waiting());
  if (!config_trouble_.empty()) {
    out.push_back(fmt::format("{} is refused, and what it said before is in force: {}",
                              options_.config_path,
                              config_trouble_));
  }
  for (const NamedFile& each : named_files_) {
    if (each.faults.empty()) continue;
    out.push_back(fmt::format(
        "{}{}; what it said before is in force, from {}",
        print_fault(each.faults.front()),
        each.faults.size() > 1 ? fmt::format(" (and {} more)", each.faults.size() - 1) : "",
        each.at));
  }
  for (const std::string& each : partitions_.conflicts()) out.push_back("partitions: " + each);
  if (std::string unsaved = files_.alarm(); !unsaved.empty()) out.push_back(std::move(unsaved));
  if (!options_.log_trouble.empty())
    out.push_back("the log is not where log.sink says: " + options_.log_trouble);
  if (const std::string why = log::write_trouble(); !why.empty())
    out.push_back("the log file takes no lines, which go to standard error: " + why);
  std::ranges::move(servers_.alarms(), std::back_inserter(out));
  return out;
}

std::string Daemon::print_waiting() const {
  const auto seconds = [](Duration d) {
    return std::chrono::ceil<std::chrono::seconds>(std::max(d, Duration{0})).count();
  };
  const TimePoint now = runtime_.now();
  return fmt::format("waits for a device since {} s, and manages nothing: {}; tried again in {} s",
                     seconds(now - waiting_->since),
                     waiting_->why,
                     seconds(waiting_->next_try - now));
}

int Daemon::run() {
  if (!lock_state()) return 2;
  Faults faults = files_.load();
  const bool is_state = !faults.empty();
  if (!is_state) faults = read_files();
  for (const Fault& each : faults) fmt::print(stderr, "{}\n", print_fault(each));
  if (is_state) {
    fmt::print(stderr,
               "smd: correct each of these files, or move it away and do without what it has: "
               "without lids, ports that have LIDs keep them, and others may get new ones\n");
  }
  if (!faults.empty()) {
    if (!is_state) files_.flush();  // as complete as it was
    return 2;
  }
  for (int signal : {SIGTERM, SIGINT}) {
    runtime_.on_signal(signal, [this, signal] {
      log::info("daemon.stop", "signal={}; the fabric is left as it is", signal);
      stop(options_.once ? 1 : 0);
    });
  }
  runtime_.on_signal(SIGUSR1, [this] { reopen_log(); });
  runtime_.on_signal(SIGHUP, [this] {
    reopen_log();
    reload();
  });
  if (!options_.once) {
    if (!servers_.open()) {
      files_.flush();
      return 1;
    }
  }
  log_remarks(options_.config);
  feed_watchdog();
  tick();
  runtime_.post([this] { open(); });
  runtime_.run();
  if (options_.once && exit_code_ == 0) write_dumps_once();
  files_.flush();
  notify_.stopping();
  fmt::print("{}", answer_);
  return exit_code_;
}

AdminContext Daemon::admin_context() {
  return {.manager = [this] { return opened_ ? &opened_->session->manager() : nullptr; },
          .transport = [this] { return opened_ ? opened_->transport.get() : nullptr; },
          .shutdown = [this] { stop(0); },
          .uptime = [this] { return runtime_.now() - started_; },
          .sa = [this]() -> std::optional<SaView> {
            if (!opened_) return std::nullopt;
            return opened_->session->administration().view();
          },
          .congestion = [this]() -> const CcManager* {
            return opened_ ? &opened_->session->congestion() : nullptr;
          },
          .watch = [this]() -> const PathWatch* {
            return opened_ ? &opened_->session->watch() : nullptr;
          },
          .replica = [this] { return servers_.replica_view(); },
          .alarms = [this] { return alarms(); },
          .dumps = &asked_dumps_,
          .partitions = &partitions_,
          .version = options_.version};
}

MetricsInput Daemon::numbers() const {
  return {.session = opened_ ? std::optional(opened_->session->view()) : std::nullopt,
          .received = opened_ ? opened_->transport->receive_stats() : ReceiveStats{},
          .replica = servers_.replica_view(),
          .rest = servers_.rest_stats(),
          .alarms = alarms().size(),
          .uptime = runtime_.now() - started_};
}

/// Of files that options name, managers should have the same text, wherever it is. Of keys the
/// peer gets no sum, which would let whoever sees it try guesses: it is told which kinds of M_Keys
/// there are, so that one with and one without are told apart.
void Daemon::share_options() {
  StandbyReplication* replica = servers_.replica();
  if (replica == nullptr) return;
  // Roots are options themselves; names of nodes make no difference to a port.
  constexpr std::pair<std::string_view, std::string_view> kCompared[] = {
      {"partitions", "partitions.file"}, {"qos_policy", "qos.policy_file"}};
  std::string text = print_shared_options(options_.config);
  for (const NamedFile& each : named_files_) {
    for (const auto& [kind, option] : kCompared) {
      if (each.kind != kind) continue;
      boost::crc_32_type sum;
      sum.process_bytes(each.text.data(), each.text.size());
      text += fmt::format("{} = text {:08x}\n", option, sum.checksum());
    }
  }
  const MKeySources keys = make_settings(options_.config).m_keys;
  if (!keys.empty()) {
    text += "sm.m_key =";
    for (const MKeySource& each : keys) text += each.seed.empty() ? " key" : " seed";
    text += '\n';
  }
  replica->set_options(std::move(text));
}

/// The manager is asked while it lives: the replication is told before it goes.
void Daemon::note_role() {
  StandbyReplication* replica = servers_.replica();
  if (replica == nullptr) return;
  replica->note_role(opened_ ? &opened_->session->manager() : nullptr,
                     options_.config.sm.subnet_prefix);
}

void Daemon::open() {
  auto transport = open_(runtime_, options_.config);
  if (!transport) return retry_later("transport.open", transport.error());
  backoff_ = Duration{0};
  waiting_.reset();
  const LocalPort port = (*transport)->local_port();
  log::info("transport.open", "device={} port={} guid={}", port.device, port.port, port.port_guid);
  opened_.emplace();
  opened_->transport = std::move(*transport);
  opened_->session = std::make_unique<Session>(runtime_,
                                               *opened_->transport,
                                               settings(),
                                               options_.config.sa,
                                               store_,
                                               Session::Hooks{observe(), wall_ms});
  opened_->session->start();
}

SubnetManager::Observer Daemon::observe() {
  SubnetManager::Observer observer;
  observer.wall = [] {
    return std::chrono::duration_cast<Duration>(
        std::chrono::steady_clock::now().time_since_epoch());
  };
  observer.on_cycle = [this](const CycleReport& cycle) { on_cycle(cycle); };
  observer.on_phase = [this](Phase phase) { on_phase(phase); };
  observer.on_lost = [this](const Error& error) { on_lost(error); };
  observer.on_role = [this](SmState role) {
    note_role();
    if (role == SmState::Standby) partitions_.note_successor();
  };
  observer.standby_is_behind = [this](Guid standby) {
    StandbyReplication* replica = servers_.replica();
    return replica != nullptr && replica->is_behind(standby);
  };
  return observer;
}

void Daemon::retry_later(std::string_view event, const Error& error) {
  if (options_.once) {
    fmt::print(stderr, "smd: {}\n", error.context);
    return stop(1);
  }
  const TransportConfig& config = options_.config.transport;
  const Duration least = std::chrono::seconds(config.retry_backoff_min_s);
  const Duration most = std::chrono::seconds(config.retry_backoff_max_s);
  backoff_ = backoff_ == Duration{0} ? least : std::min(2 * backoff_, most);
  log::error(event,
             "why=\"{}\" retry_in={}s",
             error.context,
             std::chrono::duration_cast<std::chrono::seconds>(backoff_).count());
  const TimePoint now = runtime_.now();
  waiting_ = Waiting{
      .why = error.context, .since = waiting_ ? waiting_->since : now, .next_try = now + backoff_};
  // Whoever starts us is not kept waiting: a boot would hang on an adapter that is dead.
  notify_.status(error.context);
  notify_.ready();
  reopen_ = Timer(runtime_, waiting_->next_try, [this] { open(); });
}

void Daemon::on_lost(const Error& error) {
  // Called from inside the session: it dies on the next turn of the loop.
  reopen_ = Timer(runtime_, runtime_.now(), [this, error] {
    close();
    retry_later("transport.lost", error);
  });
}

void Daemon::close() {
  finish_.reset();
  if (StandbyReplication* replica = servers_.replica())
    replica->note_role(nullptr, options_.config.sm.subnet_prefix);
  opened_.reset();
}

void Daemon::on_phase(Phase phase) {
  if (phase != Phase::Standby && phase != Phase::NotActive) return;
  notify_.status(std::string(print_phase(phase)));
  notify_.ready();
  if (!options_.once) return;
  fmt::print(stderr, "smd: another manager rules this subnet\n");
  stop(1);
}

void Daemon::on_cycle(const CycleReport& cycle) {
  notify_.status(
      cycle.error ? "failed: " + cycle.error->context
      : cycle.cut_off
          ? print_cut_off(cycle)
          : fmt::format("{} switches, {}, engine {}",
                        cycle.counts.switches,
                        print_adapters(cycle.counts.cas, cycle.counts.no_data, cycle.counts.hosts),
                        cycle.engine));
  notify_.ready();  // a cycle that failed is tried again, and nobody is kept waiting for it
  if (!options_.once) return;
  if (options_.config.sm.dump_dir.empty()) return finish_once(cycle);
  // What follows the cycle begins when this returns: dumps shall have the names.
  finish_ = Timer(runtime_, runtime_.now() + kFinishPause, [this, cycle] { finish_once(cycle); });
}

void Daemon::finish_once(const CycleReport& cycle) {
  const bool ready = options_.config.sm.dump_dir.empty() || opened_->session->manager().at_rest();
  if (!ready || !opened_->session->congestion().at_rest()) {
    finish_ = Timer(runtime_, runtime_.now() + kFinishPause, [this, cycle] { finish_once(cycle); });
    return;
  }
  if (options_.json) {
    nlohmann::ordered_json json = run_json(cycle);
    json["retries"] = opened_->session->manager().smp_stats().retries;
    json["rss_mb"] = peak_rss_mb();
    answer_ = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } else {
    answer_ = print_bring_up(cycle);
  }
  stop(cycle.up() ? 0 : 1);
}

void Daemon::reload() {
  if (options_.config_path.empty())
    return log::warn("config.reload", "no file was given at start; nothing to re-read");
  notify_.reloading();
  auto fresh = load_options(options_.config_path, nullptr, options_.overridden);
  if (fresh && options_.override_config) options_.override_config(*fresh);
  auto files = fresh ? read_named_files(*fresh)
                     : Parsed<std::vector<NamedFile>>(tl::unexpected(fresh.error()));
  if (!files) {
    for (const Fault& each : files.error()) log::error("config.fault", "{}", print_fault(each));
    return refuse_reload(
        print_fault(files.error().front()) +
            "; correct it and send SIGHUP: a restart may end without a manager",
        fmt::format("it has faults; smd check-config -c {} shows them", options_.config_path));
  }
  Config in_force = *fresh;
  keep_until_restart(options_.config, in_force);
  if (const std::string why = find_unusable(options_.config, *fresh, in_force); !why.empty())
    return refuse_reload(why, why);
  config_trouble_.clear();
  for (const ConfigChange& change : diff_config(options_.config, *fresh)) {
    log::info("config.change",
              "key={}{}",
              change.key,
              change.needs_restart ? " effect=after_restart" : "");
  }
  if (fresh->partitions.file == options_.config.partitions.file &&
      fresh->partitions.rules != options_.config.partitions.rules) {
    log::info("config.change", "key=partitions.file what=content");
  }
  if (fresh->qos.policy_file == options_.config.qos.policy_file &&
      fresh->qos.rules != options_.config.qos.rules) {
    log::info("config.change", "key=qos.policy_file what=content");
  }
  log_remarks(*fresh);
  move_log(in_force);
  adopt_files(std::move(*files));
  const bool renamed = in_force.sm.subnet_prefix != options_.config.sm.subnet_prefix;
  options_.config = std::move(in_force);
  share_options();
  servers_.read_key_files_again();
  adopt_partition_file();
  if (const auto level = log::parse_level(options_.config.log.level)) log::set_level(*level);
  if (opened_) {
    opened_->session->set_limits(options_.config.sa);
    opened_->session->manager().adopt(settings());
    opened_->session->manager().request_sweep("configuration");
  }
  if (renamed) note_role();  // peers with another prefix are refused
  notify_.ready();
}

void Daemon::refuse_reload(const std::string& fault, const std::string& why) {
  config_trouble_ = fault;
  log::error("config.reload", "file={} kept=old why=\"{}\"", options_.config_path, why);
  notify_.ready();
}

/// Whoever rotates log files has moved ours away, and signals; or what could not be opened shall be
/// tried again.
void Daemon::reopen_log() {
  const bool elsewhere = !options_.log_trouble.empty();
  const auto reopened = elsewhere ? log::open_sink(options_.config.log.sink) : log::reopen_sink();
  options_.log_trouble = reopened ? "" : reopened.error().context;
  if (reopened) return;
  // Where lines go meanwhile may be a file, too, and one that was moved away.
  if (elsewhere) static_cast<void>(log::reopen_sink());
  log::error("log.reopen", "why=\"{}\" kept=old", options_.log_trouble);
}

/// To where a configuration that comes into force says. Where that cannot be opened lines go on
/// where they went, and the next signal tries again.
void Daemon::move_log(const Config& fresh) {
  if (fresh.log.sink == options_.config.log.sink) return;
  const auto opened = log::open_sink(fresh.log.sink);
  options_.log_trouble = opened ? "" : opened.error().context;
  if (!opened) log::error("log.reopen", "why=\"{}\" kept=old", options_.log_trouble);
}

void Daemon::tick() {
  log::report_suppressed();
  tell_events();
  keep_dumps();
  tick_ = Timer(runtime_, runtime_.now() + kTick, [this] { tick(); });
}

void Daemon::tell_events() {
  const std::string& program = options_.config.log.event_program;
  const auto least = log::parse_level(options_.config.log.event_level);
  for (const log::Entry& each : log::entries_after(told_event_)) {
    told_event_ = each.number;
    if (!program.empty() && least && each.level >= *least && each.event != kEventProgram)
      event_program_.run(program, each.event, print_event(each) + "\n");
  }
  event_program_.report_left_out();
}

/// The files of sm.dump_dir, where the subnet is another than they show and multicast entries are
/// not just being written. After a failure with the next change.
void Daemon::keep_dumps() {
  if (kept_dumps_.busy()) return;
  if (const auto& last = kept_dumps_.last(); last && last->why != dump_trouble_) {
    dump_trouble_ = last->why;
    if (!dump_trouble_.empty()) log::error("dump.write", "why=\"{}\"", dump_trouble_);
  }
  const std::string& directory = options_.config.sm.dump_dir;
  if (directory.empty() || !opened_) return;
  const SubnetManager& manager = opened_->session->manager();
  const MulticastManager& multicast = manager.multicast();
  DumpState now{.directory = directory,
                .subnet = manager.active().current(),
                .multicast_blocks = multicast.stats().blocks_written};
  if (!now.subnet || !multicast.at_rest() || now == dumped_) return;
  dumped_ = now;
  kept_dumps_.write(directory, dump_input_of(manager));
}

/// Of --once, whose subnet is up.
void Daemon::write_dumps_once() {
  const std::string& directory = options_.config.sm.dump_dir;
  if (directory.empty()) return;
  const auto written = write_opensm_dumps(directory, dump_input_of(opened_->session->manager()));
  if (written) return;
  fmt::print(stderr, "smd: {}\n", written.error().context);
  exit_code_ = 1;
}

void Daemon::feed_watchdog() {
  const auto interval = notify_.watchdog_interval();
  if (!interval) return;
  notify_.watchdog();
  watchdog_ = Timer(runtime_, runtime_.now() + *interval / 3, [this] { feed_watchdog(); });
}

void Daemon::stop(int exit_code) {
  exit_code_ = exit_code;
  runtime_.stop();
}

}  // namespace smd
