// What a change costs the manager in processor time, without a wire: a whole session (manager and
// administration) on a simulated fabric in virtual time. A cable between two switches is lost and
// comes back, a leaf switch likewise, and a host, as when it reboots; each time others. What goes
// with a host has no new routes: then the first table is the end.
//
//   first table  from the first trap's arrival to the first Set of a forwarding block
//   cycle        from there to the end of all cycles that came of it
//   longest      the longest single task on the loop, from the trap to the end, and how many took
//                over 2 ms
//   wait p99     how long the loop is not free for who asks at any moment from the trap to the end,
//                99th percentile; jobs leave it free, and time on the wire, which does too, is left
//                out
//
// With --groups, hosts are in multicast groups: what routes wait for before they are written, since
// trees have to make way, is a stage of its own. With --m-key-protect, each port has an M_Key from
// a seed, and what a later life needs is written to a state directory as the daemon does.
//
// Only tasks and handlers of the session count, and of these not what a simulated fabric does while
// it is handed a MAD. Jobs off the loop run in between, and count as well, by themselves too. The
// clock is the processor time of the thread.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim-backend/management/sim_transport.h"
#include "sim-backend/management/timed_fabric.h"
#include "smd/base/command_line.h"
#include "smd/base/log.h"
#include "smd/config/config.h"
#include "smd/daemon/session.h"
#include "smd/state/state_files.h"

namespace smd::bench {
namespace {

using sim::FabricSpec;

double thread_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// "VmHWM", "VmRSS", in MB.
double memory_mb(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != field + ":") continue;
    double kb = 0;
    status >> kb;
    return kb / 1e3;
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

/// What one change cost.
struct Cost {
  double first_ms = 0;  // of all where no table was set
  double cycle_ms = 0;
  double longest_ms = 0;
  std::string longest_in;
  unsigned long_tasks = 0;
  std::vector<double> tasks;                        // on the loop, ms
  std::map<std::string, double> before_first, all;  // by stage
  std::uint64_t table_sets = 0;
  unsigned cycles = 0;
};

/// Who comes at a moment that is as likely as any other waits for the end of the task that he
/// meets: longer than `ms` for sum(task - ms) of all the time, over the tasks that are longer.
double wait_p99(const Cost& cost) {
  const auto waiting = [&](double ms) {
    double sum = 0;
    for (const double task : cost.tasks) sum += std::max(0.0, task - ms);
    return sum;
  };
  double low = 0, high = cost.longest_ms;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (waiting(middle) > cost.cycle_ms / 100 ? low : high) = middle;
  }
  return high;
}

/// What no task on the loop is to take.
constexpr double kLongMs = 2;

/// Whose time it is: nothing, a task of the loop, a job.
class Meter {
 public:
  void begin() {
    cost_ = Cost{};
    heard_ = false;
    jobs_ = 0;
  }

  [[nodiscard]] Cost end() {
    if (cost_.first_ms == 0) {
      cost_.first_ms = cost_.cycle_ms;
      cost_.before_first = cost_.all;
    }
    heard_ = false;
    return cost_;
  }

  void on_trap() { heard_ = true; }

  void on_cycle() { ++cost_.cycles; }

  void on_phase(Phase phase) {
    charge();
    phase_ = std::string(print_phase(phase));
    if (phase == Phase::Discovering) jobs_ = 0;
  }

  /// One of the session's own tasks or handlers.
  void run_on_loop(const Task& task) {
    loop_ms_ = 0;
    since_ = thread_ms();
    running_ = true;
    task();
    charge();
    running_ = false;
    if (heard_) cost_.tasks.push_back(loop_ms_);
    if (heard_ && loop_ms_ > kLongMs) ++cost_.long_tasks;
    if (heard_ && loop_ms_ > cost_.longest_ms) {
      cost_.longest_ms = loop_ms_;
      cost_.longest_in = phase_;
    }
  }

  void run_job(const Task& work) {
    ++jobs_;
    const std::string stage = fmt::format("job {} of {}", jobs_, phase_);
    const double began = thread_ms();
    work();
    note(stage, thread_ms() - began);
  }

  /// The fabric has a MAD in hands.
  void run_outside(const Task& task) {
    if (!running_) return task();
    charge();
    task();
    since_ = thread_ms();
  }

  void on_table_set() {
    ++cost_.table_sets;
    if (cost_.table_sets > 1 || !heard_) return;
    charge();
    cost_.first_ms = cost_.cycle_ms;
    cost_.before_first = cost_.all;
  }

 private:
  void charge() {
    if (!running_) return;
    const double now = thread_ms();
    loop_ms_ += now - since_;
    note("loop " + phase_, now - since_);
    since_ = thread_ms();
  }

  void note(const std::string& stage, double ms) {
    if (!heard_) return;
    cost_.cycle_ms += ms;
    cost_.all[stage] += ms;
  }

  Cost cost_;
  std::string phase_ = "idle";
  unsigned jobs_ = 0;  // since the cycle began
  bool heard_ = false, running_ = false;
  double loop_ms_ = 0, since_ = 0;
};

class MeteredRuntime final : public Runtime {
 public:
  MeteredRuntime(Runtime& inner, Meter& meter) : inner_(inner), meter_(meter) {}

  [[nodiscard]] TimePoint now() const override { return inner_.now(); }

  TimerId call_at(TimePoint when, Task task) override {
    return inner_.call_at(when, metered(std::move(task)));
  }

  void cancel(TimerId id) override { inner_.cancel(id); }

  void post(Task task) override { inner_.post(metered(std::move(task))); }

  void offload(Task work, Task then) override {
    inner_.offload([this, work = std::move(work)] { meter_.run_job(work); },
                   metered(std::move(then)));
  }

 private:
  Task metered(Task task) {
    return [this, task = std::move(task)] { meter_.run_on_loop(task); };
  }

  Runtime& inner_;
  Meter& meter_;
};

class MeteredTransport final : public Transport {
 public:
  MeteredTransport(Transport& inner, Meter& meter) : inner_(inner), meter_(meter) {}

  [[nodiscard]] LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    const auto smp = decode_smp(packet.mad);
    if (smp && smp->method == Method::Set &&
        smp->attribute_id == static_cast<std::uint16_t>(AttributeId::LinearForwardingTable))
      meter_.on_table_set();
    Result<void> sent{};
    meter_.run_outside([&] { sent = inner_.send(packet); });
    return sent;
  }

  void set_handlers(Receive receive, Lost lost) override {
    inner_.set_handlers(
        [this, receive = std::move(receive)](const MadPacket& packet) {
          const auto smp = decode_smp(packet.mad);
          if (smp && smp->method == Method::Trap) meter_.on_trap();
          meter_.run_on_loop([&] { receive(packet); });
        },
        std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

 private:
  Transport& inner_;
  Meter& meter_;
};

/// What a subnet has besides routes.
struct Load {
  unsigned groups = 0;
  unsigned members = 16;  // of each group
  unsigned m_key_protect = 0;
};

Settings settings_of(const std::string& engine, const Load& load) {
  Settings out = make_settings(Config{});
  out.engine_fallback = false;
  out.sweep_interval = Duration{0};
  out.engine = engine;
  if (load.m_key_protect != 0) {
    out.m_keys = {MKeySource{.seed = std::string(16, 'k'), .key = {}}};
    out.ports.m_key = out.election.m_key = name_of(out.m_keys.front());
    out.ports.m_key_protect = static_cast<std::uint8_t>(load.m_key_protect);
  }
  return out;
}

/// A directory that goes with it.
class StateDirectory {
 public:
  StateDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bench_cycle.XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }

  StateDirectory(const StateDirectory&) = delete;

  ~StateDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Site : public sim::TimedFabric {
 public:
  Site(const FabricSpec& spec, const std::string& engine, const Load& load)
      : TimedFabric(spec, sim::Timing::modern()),
        load_(load),
        loop_(runtime, meter),
        port_(fabric, spec.sm_node, spec.sm_port),
        transport_(port_, meter),
        files_(loop_, store_, directory_.path(), [] { return std::int64_t{0}; }),
        session_(loop_,
                 transport_,
                 settings_of(engine, load),
                 SaConfig{},
                 store_,
                 Session::Hooks{.observer = observer()}) {
    if (load.m_key_protect != 0)
      store_.changed().subscribe([this](const StateKind& kind) { files_.note_change(kind); });
  }

  bool bring_up() {
    session_.start();
    return settle(0) && session_.manager().last_cycle()->up() && join_groups();
  }

  /// Nothing where it did not come to rest.
  template <class Change>
  std::optional<Cost> measure(Change&& change) {
    meter.begin();
    change();
    if (!settle(session_.manager().cycles() + 1)) return std::nullopt;
    return meter.end();
  }

  [[nodiscard]] const SubnetManager& manager() const { return session_.manager(); }

  Meter meter;

 private:
  /// Members of each group are spread over the fabric.
  bool join_groups() {
    if (load_.groups == 0) return true;
    MulticastManager& multicast = session_.manager().multicast();
    std::vector<Guid> hosts;
    for (const auto& node : fabric.spec().nodes) {
      if (node.type == NodeType::Ca) hosts.push_back(node.ports.at(1).guid);
    }
    for (unsigned group = 0; group < load_.groups; ++group) {
      for (unsigned member = 0; member < load_.members; ++member) {
        const Guid host = hosts[(member * hosts.size() / load_.members + group) % hosts.size()];
        const GroupRequest request{.mgid = Gid{0xff12401bffff0000u, Guid{group + 1}},
                                   .port_gid = Gid{kDefaultSubnetPrefix, host},
                                   .q_key = 0xb1b,
                                   .tclass = 0,
                                   .p_key = kDefaultPKey,
                                   .sl = 0,
                                   .flow_label = 0,
                                   .join_state = 1};
        if (!multicast.groups().join(*multicast.realm(), request, host)) return false;
      }
    }
    multicast.note_change();
    return settle(0);
  }

  SubnetManager::Observer observer() {
    SubnetManager::Observer out;
    out.on_phase = [this](Phase phase) { meter.on_phase(phase); };
    out.on_cycle = [this](const CycleReport&) { meter.on_cycle(); };
    return out;
  }

  bool settle(std::uint64_t cycles) {
    return run_until(
        [this, cycles] {
          const SubnetManager& at = session_.manager();
          return at.cycles() >= cycles && at.last_cycle() != nullptr && at.at_rest();
        },
        std::chrono::minutes(10));
  }

  const Load load_;
  MeteredRuntime loop_;
  sim::SimTransport port_;
  MeteredTransport transport_;
  StateDirectory directory_;
  StateStore store_;
  StateFiles files_;
  Session session_;
};

/// Adapters but the manager's own.
std::vector<std::uint32_t> list_hosts(const FabricSpec& spec) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    if (spec.nodes[node].type == NodeType::Ca && node != spec.sm_node) out.push_back(node);
  }
  return out;
}

struct Cable {
  std::uint32_t node;
  PortNum port;
};

/// Every cable between two switches, once.
std::vector<Cable> list_cables(const FabricSpec& spec) {
  std::vector<Cable> out;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    const auto& each = spec.nodes[node];
    if (each.type != NodeType::Switch) continue;
    for (unsigned number = 1; number <= each.num_ports(); ++number) {
      const std::uint32_t peer = each.ports[number].peer_node;
      if (peer != sim::kNoNode && peer > node && spec.nodes[peer].type == NodeType::Switch)
        out.push_back({node, PortNum{static_cast<std::uint8_t>(number)}});
    }
  }
  return out;
}

/// Switches with adapters, but the one that the manager's hangs on.
std::vector<std::uint32_t> list_leaves(const FabricSpec& spec) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t node = 0; node < spec.nodes.size(); ++node) {
    const auto& ports = spec.nodes[node].ports;
    if (spec.nodes[node].type != NodeType::Switch || node == spec.sm_node) continue;
    const auto is_adapter = [&](const sim::PortSpec& port) {
      return port.peer_node != sim::kNoNode && spec.nodes[port.peer_node].type == NodeType::Ca;
    };
    const auto is_ours = [&](const sim::PortSpec& port) { return port.peer_node == spec.sm_node; };
    if (std::ranges::any_of(ports, is_adapter) && std::ranges::none_of(ports, is_ours))
      out.push_back(node);
  }
  return out;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::string print_range(const std::vector<double>& values) {
  if (values.empty()) return "";
  const auto [least, most] = std::ranges::minmax(values);
  return fmt::format("{:.1f} ({:.1f}–{:.1f})", median(values), least, most);
}

constexpr std::array<const char*, 6> kEvents{
    "cable lost", "cable back", "leaf lost", "leaf back", "host lost", "host back"};

struct Options {
  std::vector<std::string> fabrics{"fat-tree:k=36,levels=3"};
  std::vector<std::string> engines{"updn"};
  unsigned runs = 9;
  Load load;
  bool leaf = true;
  bool stages = false;
};

using Costs = std::array<std::vector<Cost>, kEvents.size()>;

template <class Get>
std::vector<double> each_of(const std::vector<Cost>& costs, Get get) {
  std::vector<double> out;
  for (const Cost& cost : costs) out.push_back(get(cost));
  return out;
}

void print_stages(const std::vector<Cost>& costs) {
  std::map<std::string, char> names;
  for (const Cost& cost : costs) {
    for (const auto& [name, ms] : cost.all) names[name] = 1;
  }
  for (const auto& [name, unused] : names) {
    const auto of = [&](const std::map<std::string, double>& stages) {
      const auto found = stages.find(name);
      return found == stages.end() ? 0.0 : found->second;
    };
    fmt::print("    {:<28} {:9.2f} of {:9.2f} ms\n",
               name,
               median(each_of(costs, [&](const Cost& c) { return of(c.before_first); })),
               median(each_of(costs, [&](const Cost& c) { return of(c.all); })));
  }
}

void print_row(const std::string& fabric,
               const std::string& engine,
               std::size_t event,
               const std::vector<Cost>& costs,
               bool stages) {
  if (costs.empty()) return;
  const auto longest = std::ranges::max_element(costs, {}, &Cost::longest_ms);
  fmt::print(
      "| {} | {} | {} | {} | {} | {} | {:.0f} | {} | {} | {:.0f} |\n",
      fabric,
      engine,
      kEvents[event],
      print_range(each_of(costs, [](const Cost& c) { return c.first_ms; })),
      print_range(each_of(costs, [](const Cost& c) { return c.cycle_ms; })),
      print_range(each_of(costs, [](const Cost& c) { return c.longest_ms; })),
      median(each_of(costs, [](const Cost& c) { return static_cast<double>(c.long_tasks); })),
      longest->longest_in,
      print_range(each_of(costs, wait_p99)),
      median(each_of(costs, [](const Cost& c) { return static_cast<double>(c.table_sets); })));
  if (stages) print_stages(costs);
  std::fflush(stdout);
}

bool run(const std::string& fabric, const std::string& engine, const Options& options) {
  const auto spec = sim::spec_of(fabric);
  const double without_mb = memory_mb("VmRSS");
  Site site{spec, engine, options.load};
  const double fabric_mb = memory_mb("VmRSS");
  if (!site.bring_up()) {
    fmt::print(stderr, "{} on {} does not come up\n", engine, fabric);
    return false;
  }
  const double up_mb = memory_mb("VmRSS");
  forget_peak();
  const std::vector<Cable> cables = list_cables(spec);
  const std::vector<std::uint32_t> leaves = list_leaves(spec), hosts = list_hosts(spec);
  Costs costs;
  for (unsigned i = 0; i < options.runs; ++i) {
    const auto take = [&](std::size_t event, auto&& change) {
      const auto cost = site.measure(change);
      if (cost) costs[event].push_back(*cost);
      return cost.has_value();
    };
    // Spread over all of them, and never the first or the last alone.
    const auto pick = [&](const auto& list) {
      return list[(2 * i + 1) * list.size() / (2 * options.runs)];
    };
    bool ok = true;
    if (!cables.empty()) {
      const Cable cable = pick(cables);
      ok = take(0, [&] { site.fabric.set_link(cable.node, cable.port, false); }) &&
           take(1, [&] { site.fabric.set_link(cable.node, cable.port, true); });
    }
    if (ok && options.leaf && !leaves.empty()) {
      const std::uint32_t leaf = pick(leaves);
      ok = take(2, [&] { site.fabric.set_node(leaf, false); }) &&
           take(3, [&] { site.fabric.set_node(leaf, true); });
    }
    if (ok && !hosts.empty()) {
      const std::uint32_t host = pick(hosts);
      ok = take(4, [&] { site.fabric.set_node(host, false); }) &&
           take(5, [&] { site.fabric.set_node(host, true); });
    }
    if (ok) continue;
    fmt::print(stderr, "{} on {} does not come to rest\n", engine, fabric);
    return false;
  }
  for (std::size_t event = 0; event < costs.size(); ++event)
    print_row(fabric, engine, event, costs[event], options.stages);
  fmt::print(
      "<!-- {} under {}: {:.0f} MB the simulated fabric, {:.0f} MB more once up, peak {:.0f} MB "
      "more during changes -->\n",
      fabric,
      engine,
      fabric_mb - without_mb,
      up_mb - fabric_mb,
      memory_mb("VmHWM") - fabric_mb);
  std::fflush(stdout);
  return true;
}

}  // namespace
}  // namespace smd::bench

int main(int argc, char** argv) {
  using namespace smd::bench;
  Options options;
  smd::log::set_level(smd::log::Level::Warn);
  bool no_leaf = false;
  smd::CommandLine line{"Processor time of the manager for a change, without a wire"};
  line.option("--fabric", options.fabrics, "File or generator; repeatable").show_default();
  line.option("--engine", options.engines, "Repeatable").show_default();
  line.option("--runs", options.runs, "Of each change").range(1, 1000).show_default();
  line.flag("--no-leaf", no_leaf, "Cables only");
  line.option("--groups", options.load.groups, "Multicast groups").range(0, 1000).show_default();
  line.option("--members", options.load.members, "Hosts in each").range(1, 10000).show_default();
  line.option("--m-key-protect", options.load.m_key_protect, "Level; a key for each port from 1 on")
      .range(0, 3)
      .show_default();
  line.flag(
      "--stages", options.stages, "Of the time to the first table and of all, what went where");
  if (const auto code = line.parse(argc, argv)) return *code;
  options.leaf = !no_leaf;
  fmt::print(
      "| fabric | engine | change | first table ms, median (least–most) | cycle ms | longest "
      "on the loop ms | tasks over 2 ms | longest in | wait p99 ms | "
      "table Sets |\n|---|---|---|---|---|---|---|---|---|---|\n");
  bool all = true;
  for (const std::string& fabric : options.fabrics) {
    for (const std::string& engine : options.engines) all = run(fabric, engine, options) && all;
  }
  return all ? 0 : 1;
}
