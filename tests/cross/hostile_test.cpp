// What one host can do to its manager: `smd run` on a served fabric, and a program on one host that
// sends as fast as the simulator takes it (hostile_host.cpp). Meanwhile the manager is asked how it
// is, weighed, and given cables to notice.
//
// Brief: some seconds of each kind on 14 hosts, as part of every test run; it judges what does not
// depend on the speed of the machine. Long (ctest -L hostile): a minute of each, also on 1,728
// hosts; it judges times, too. Both print a line of what was measured for each attack.
#include <gmock/gmock.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include "smd/admin/client.h"
#include "tests/cross/served.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"

namespace smd::test {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

// --- The tables ---------------------------------------------------------------------------------

/// Where `status` counts what arrives, and what found no room on the way from the port.
struct Arrival {
  const char* taken;
  const char* dropped;
};

constexpr Arrival kTraps{"/traps/received", "/receive_queue/traps_dropped"};
constexpr Arrival kOfTheUnknown{"/traps/unknown_issuer", "/receive_queue/traps_dropped"};
constexpr Arrival kRequests{"/sa/requests", "/receive_queue/requests_dropped"};
constexpr Arrival kOfManagers{"/smp/unsolicited", "/receive_queue/of_managers_dropped"};

struct Attack {
  const char* name;
  const char* sends;                        // what hostile_host calls it; empty: it sends nothing
  unsigned rate;                            // a second; 0: as many as the simulator takes
  bool brief;                               // part of every test run
  bool one_lid_short;                       // a host is plugged in for which there is no LID
  std::array<const Arrival*, 3> counted{};  // each grows
};

constexpr Attack kAttacks[] = {
    {"traps_of_anybody", "traps-of-anybody", 0, true, false, {&kTraps}},
    {"traps_of_the_known", "traps-of-the-known", 0, false, false, {&kTraps}},
    {"changes_of_the_unknown_5_a_second",
     "changes-of-the-unknown",
     5,
     false,
     false,
     {&kOfTheUnknown}},
    {"changes_of_the_unknown", "changes-of-the-unknown", 0, true, false, {&kOfTheUnknown}},
    {"one_host_more_than_lids", "", 0, true, true},
    {"groups_without_limit", "groups", 0, true, false, {&kRequests}},
    {"services_subscriptions_guids", "registrations", 0, false, false, {&kRequests}},
    {"whole_tables_never_acknowledged", "whole-tables", 0, true, false, {&kRequests}},
    {"malformed_requests", "malformed", 0, false, false, {&kRequests}},
    {"orders_of_managers", "orders", 0, true, false, {&kOfManagers}},
    {"forged_answers", "forged-answers", 0, false, false},  // the kernel drops most
    {"directed_gets", "directed", 0, false, false, {&kOfManagers}},
    {"other_classes", "other-classes", 0, false, false},
    {"everything_at_once", "everything", 0, true, true, {&kTraps, &kRequests, &kOfManagers}},
};

struct Scale {
  const char* fabric;
  double seconds;  // of attack
  unsigned usual;  // failures before it
  bool judges_times;
};

constexpr Scale kBrief{"fat-tree:k=4,levels=3,hosts=14", 3, 3, false};
constexpr Scale kLong14{"fat-tree:k=4,levels=3,hosts=14", 60, 9, true};
constexpr Scale kLong1728{"fat-tree:k=36,levels=3,hosts=1728", 60, 5, true};

// What is promised, in the Long suite.
constexpr Seconds kAnswers = 200ms;       // smctl status
constexpr double kGrowsMb = 30;           // the manager's memory
constexpr double kTimesAsLong = 2;        // a failure, compared with before the attack
constexpr Seconds kLongestFailure = 60s;  // beyond it a failure counts as not noticed

// --- What is measured ---------------------------------------------------------------------------

/// Descriptions of both ends.
struct Cable {
  std::string node;
  unsigned port = 0;
};

/// Cables between switches, no two at one switch as far as that goes: a switch that reports again
/// and again is listened to less.
std::vector<Cable> cables_of(const sim::FabricSpec& spec) {
  std::vector<Cable> cables;
  std::set<std::uint32_t> used;
  for (std::uint32_t n = 0; n < spec.nodes.size() && cables.size() < 32; ++n) {
    const sim::NodeSpec& node = spec.nodes[n];
    if (node.type != NodeType::Switch || used.contains(n)) continue;
    for (unsigned p = 1; p <= node.num_ports(); ++p) {
      const std::uint32_t peer = node.ports[p].peer_node;
      if (peer == sim::kNoNode || spec.nodes[peer].type != NodeType::Switch || used.contains(peer))
        continue;
      cables.push_back({node.description, p});
      used.insert({n, peer});
      break;
    }
  }
  return cables;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

double largest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::ranges::max_element(values);
}

/// On a head node the manager shares its processor neither with its fabric nor with the hostile
/// host. Puts this process, and what it starts, on the first that it may use; returns how to start
/// the manager on the second. With one processor everything stays where it is.
std::vector<std::string> keep_processor_for_the_manager() {
  static const std::vector<std::string> apart = [] {
    cpu_set_t all;
    CPU_ZERO(&all);
    EXPECT_EQ(::sched_getaffinity(0, sizeof all, &all), 0);
    std::vector<unsigned> processors;
    for (unsigned n = 0; n < CPU_SETSIZE; ++n)
      if (CPU_ISSET(n, &all)) processors.push_back(n);
    if (processors.size() < 2) return std::vector<std::string>{};
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(processors[0], &first);
    EXPECT_EQ(::sched_setaffinity(0, sizeof first, &first), 0);
    return std::vector<std::string>{"taskset", "-c", std::to_string(processors[1])};
  }();
  return apart;
}

/// A line of /proc/PID/status, in MB.
double memory_mb(pid_t pid, const std::string& line) {
  std::istringstream in(read_process(pid, "status"));
  for (std::string text; std::getline(in, text);) {
    if (text.starts_with(line + ":")) return std::stod(text.substr(line.size() + 1)) / 1024;
  }
  return -1;
}

/// Asks the manager how it is, five times a second, from a thread of its own.
class Watch {
 public:
  explicit Watch(std::string socket) : socket_(std::move(socket)) {
    thread_ = std::thread([this] { run(); });
  }

  ~Watch() { stop(); }

  void stop() {
    ended_ = true;
    if (thread_.joinable()) thread_.join();
  }

  /// After stop().
  [[nodiscard]] const std::vector<double>& waits() const { return waits_; }

  [[nodiscard]] const std::set<std::string>& states() const { return states_; }

 private:
  void run() {
    const std::set<std::string> busy{"discovering", "routing", "programming", "idle"};
    for (auto next = Clock::now(); !ended_; next = std::max(next + 200ms, Clock::now())) {
      std::this_thread::sleep_until(next);
      const auto began = Clock::now();
      const auto status = send_command({.socket = socket_}, "status", nlohmann::json::object());
      waits_.push_back(Seconds(Clock::now() - began).count());
      const std::string state =
          status ? status->value("state", "none") : "no answer: " + status.error().context;
      // Every phase of a master's cycle.
      states_.insert(busy.contains(state) ? "master" : state);
    }
  }

  std::string socket_;
  std::atomic<bool> ended_ = false;
  std::vector<double> waits_;
  std::set<std::string> states_;
  std::thread thread_;
};

class Subnet {
 public:
  /// `before`: a program that runs the manager's command line, with its options.
  Subnet(const std::string& fabric, bool one_lid_short, std::vector<std::string> before)
      : fabric_(fabric),
        served_(fabric),
        cables_(cables_of(served_.spec)),
        config_(write_config(scratch_.path(), "interval_s = 10\n")) {
    for (const sim::NodeSpec& node : served_.spec.nodes) {
      ++(node.type == NodeType::Ca ? hosts_ : switches_);
      for (const sim::PortSpec& port : node.ports) links_ += port.peer_node != sim::kNoNode ? 1 : 0;
    }
    links_ /= 2;
    if (one_lid_short) {
      late_host_ = served_.host(hosts_ - 2);
      std::string text = read_text(config_);
      text.insert(text.find("[sm]\n") + 5,
                  "lid_max = " + std::to_string(hosts_ + switches_ - 1) + "\n");
      std::ofstream(config_) << text;
      (void)served_.console("unlink \"" + late_host_ + "\"[1]");
      --links_;
    }
    before.insert(before.end(), {smd_path(), "run", "-c", config_});
    smd_.emplace(ProcessOptions{.argv = std::move(before), .env = served_.env(manager_host())});
  }

  [[nodiscard]] std::string socket() const { return scratch_.path() / "smd.sock"; }

  [[nodiscard]] nlohmann::json status() {
    (void)smd_->err();  // whose pipe must not fill up
    const auto status = send_command({.socket = socket()}, "status", nlohmann::json::object());
    return status && status->is_object() ? *status : nlohmann::json::object();
  }

  [[nodiscard]] bool is_up() {
    return wait_until(
        [&] {
          const nlohmann::json now = status();
          return now.value("state", "") == "master" && now.value("links", 0u) == links_;
        },
        120s);
  }

  /// Seconds until the manager knows of a cable that was pulled; it is put back afterwards, and
  /// that is noticed, too.
  double fail_a_cable() {
    const Cable& cable = cables_[next_cable_++ % cables_.size()];
    const std::string where = "\"" + cable.node + "\"[" + std::to_string(cable.port) + "]";
    const double took = change("unlink " + where, links_ - 1);
    change("relink " + where, links_);
    return took;
  }

  /// Whether its cable counts is the manager's business: what follows is measured against that.
  void plug_in_the_late_host() {
    if (late_host_.empty()) return;
    (void)served_.console("relink \"" + late_host_ + "\"[1]");
    if (wait_until([&] { return status().value("links", 0u) == links_ + 1; }, 2s)) ++links_;
  }

  /// How much has arrived there.
  [[nodiscard]] std::uint64_t count(const Arrival& of) {
    const nlohmann::json now = status();
    const auto at = [&](const char* where) {
      return now.at(nlohmann::json::json_pointer(where)).get<std::uint64_t>();
    };
    return at(of.taken) + at(of.dropped);
  }

  [[nodiscard]] ProcessOptions attack(const Attack& how, double seconds) {
    EXPECT_NE(lid_of(served_.host(hosts_ - 1)), 0u);
    EXPECT_NE(lid_of(manager_host()), 0u);
    // Elsewhere it would have a machine of its own: here it gets what the others leave of this one,
    // so that what is measured is the manager and not whose turn it is.
    return {.argv = {"nice",      "-n",
                     "19",        build_path("bin/hostile_host"),
                     "--fabric",  fabric_,
                     "--socket",  served_.name,
                     "--host",    served_.host(hosts_ - 1),
                     "--own-lid", std::to_string(lid_of(served_.host(hosts_ - 1))),
                     "--manager", manager_host(),
                     "--sm-lid",  std::to_string(lid_of(manager_host())),
                     "--attack",  how.sends,
                     "--rate",    std::to_string(how.rate),
                     "--seconds", std::to_string(seconds)}};
  }

  /// As the state directory has it: GUID, LID, LMC of every port.
  [[nodiscard]] std::set<std::string> lids() const {
    std::set<std::string> lines;
    std::istringstream in(read_text(scratch_.path() / "state" / "lids"));
    static const std::regex port("0x[0-9a-f]{16} .*");
    for (std::string line; std::getline(in, line);)
      if (std::regex_match(line, port)) lines.insert(line);
    return lines;
  }

  [[nodiscard]] Process& smd() { return *smd_; }

  [[nodiscard]] std::size_t switches() const { return switches_; }

 private:
  [[nodiscard]] std::string manager_host() const { return served_.host(0); }

  [[nodiscard]] unsigned lid_of(const std::string& host) {
    const auto nodes = send_command({.socket = socket()}, "nodes", nlohmann::json::object());
    for (const auto& node : nodes.value().at("nodes"))
      if (node.at("description") == host) return node.at("lid");
    return 0;
  }

  double change(const std::string& order, std::size_t links) {
    const auto began = Clock::now();
    const std::string answer = served_.console(order);
    EXPECT_THAT(answer, testing::HasSubstr("1 link")) << order;
    while (Seconds(Clock::now() - began) < kLongestFailure) {
      if (status().value("links", std::size_t{0}) == links)
        return Seconds(Clock::now() - began).count();
      std::this_thread::sleep_for(5ms);
    }
    return kLongestFailure.count();
  }

  std::string fabric_;
  Served served_;
  std::vector<Cable> cables_;
  Scratch scratch_;
  std::filesystem::path config_;
  std::string late_host_;
  std::size_t hosts_ = 0, switches_ = 0, links_ = 0, next_cable_ = 0;
  std::optional<Process> smd_;
};

// --- The suite ----------------------------------------------------------------------------------

struct Case {
  const Scale* scale;
  const Attack* attack;
};

std::vector<Case> cases_of(const Scale& scale) {
  std::vector<Case> cases;
  for (const Attack& attack : kAttacks)
    if (&scale != &kBrief || attack.brief) cases.push_back({&scale, &attack});
  return cases;
}

struct Measured {
  double usual = 0;           // seconds until a failure is noticed, before
  std::vector<double> fails;  // likewise, during
  std::vector<double> waits;  // for the answer to `status`
  double grew_mb = 0;
  std::uint64_t smps = 0;       // that the manager sent during the attack
  double smps_of_a_change = 0;  // before; a cable that goes and comes back
  double seconds = 0;
  std::string sent = "0";
};

void print(const Case& what, const Measured& m) {
  static std::once_flag head;
  std::call_once(head, [] {
    std::cout << "| fabric | attack | datagrams | status: median, longest (ms) | memory grew (MB) "
                 "| SMPs of the manager, of a change | a failure: usual, median, longest (ms) |\n"
                 "|---|---|---|---|---|---|---|\n";
  });
  const auto ms = [](double seconds) { return static_cast<long>(seconds * 1000 + 0.5); };
  std::cout << "| " << what.scale->fabric << " | " << what.attack->name << " | " << m.sent << " | "
            << ms(median(m.waits)) << ", " << ms(largest(m.waits)) << " | " << m.grew_mb << " | "
            << m.smps << ", " << m.smps_of_a_change << " | " << ms(m.usual) << ", "
            << ms(median(m.fails)) << ", " << ms(largest(m.fails)) << " |" << std::endl;
}

class Hostile : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { ASSERT_FALSE(umad2sim().empty()) << "install ibsim-utils"; }
};

TEST_P(Hostile, OneHostDoesNotStopTheManager) {
  const Scale& scale = *GetParam().scale;
  const Attack& attack = *GetParam().attack;
  Subnet subnet(scale.fabric,
                attack.one_lid_short,
                scale.judges_times ? keep_processor_for_the_manager() : std::vector<std::string>{});
  ASSERT_TRUE(subnet.is_up()) << subnet.smd().err();
  // How often it asks again depends on how quickly the fabric answers, on a busy machine.
  const auto sent = [&] {
    const auto smp = subnet.status().at("smp");
    const auto again = scale.judges_times ? 0 : smp.at("retries").get<std::uint64_t>();
    return smp.at("sent").get<std::uint64_t>() - again;
  };

  Measured m;
  const std::uint64_t bring_up = sent();
  std::vector<double> usual;
  for (unsigned i = 0; i < scale.usual; ++i) usual.push_back(subnet.fail_a_cable());
  m.usual = median(usual);
  m.smps_of_a_change = static_cast<double>(sent() - bring_up) / scale.usual;
  const std::set<std::string> lids = subnet.lids();
  const pid_t pid = subnet.smd().pid();
  std::ofstream("/proc/" + std::to_string(pid) + "/clear_refs") << "5";  // VmHWM starts anew
  const double memory = memory_mb(pid, "VmRSS");
  const std::uint64_t sent_before = sent();
  std::map<const Arrival*, std::uint64_t> arrived;
  for (const Arrival* each : attack.counted)
    if (each != nullptr) arrived[each] = subnet.count(*each);

  const auto began = Clock::now();
  const auto end = began + std::chrono::duration_cast<Clock::duration>(Seconds(scale.seconds));
  {
    std::optional<Process> host;
    if (*attack.sends != '\0') host.emplace(subnet.attack(attack, scale.seconds));
    Watch watch(subnet.socket());
    subnet.plug_in_the_late_host();
    // The first after a fifth of the time: what piles up has piled up by then.
    const auto pause = (end - Clock::now()) / 5;
    do {
      const auto next = Clock::now() + pause;
      while (Clock::now() < next) {
        (void)subnet.smd().err();
        std::this_thread::sleep_for(10ms);
      }
      m.fails.push_back(subnet.fail_a_cable());
    } while (Clock::now() < end && m.fails.size() < 100);
    watch.stop();
    m.waits = watch.waits();
    EXPECT_THAT(watch.states(), testing::ElementsAre("master"));
    if (host) {
      EXPECT_EQ(host->wait(60s), 0) << host->err();
      m.sent = host->out().substr(5, host->out().size() - 6);
    }
  }
  m.seconds = Seconds(Clock::now() - began).count();
  m.grew_mb = memory_mb(pid, "VmHWM") - memory;
  m.smps = sent() - sent_before;
  print(GetParam(), m);

  // Cables that are pulled make some traps: fewer than a hundredth of what is sent by the thousand.
  if (*attack.sends != '\0') {
    EXPECT_GT(std::stoull(m.sent), 0u);
  }
  for (const auto& [where, before] : arrived) {
    EXPECT_GT(subnet.count(*where) - before, std::stoull(m.sent) / 100) << where->taken;
  }

  EXPECT_TRUE(subnet.smd().is_running()) << subnet.smd().err();
  EXPECT_EQ(subnet.status().value("state", ""), "master");
  EXPECT_THAT(subnet.lids(), testing::IsSupersetOf(lids));
  EXPECT_LT(m.grew_mb, kGrowsMb);
  // What was pulled and put back, twice over; of each switch a question in every sweep, and those
  // for the sake of senders whom nobody knows: four at once, then one in 5 s (docs/operations.md).
  // A host that changes its further GUIDs has them written once for each view, of which there are
  // 50 a second at most.
  const bool writes_guids =
      std::set<std::string_view>{"registrations", "everything"}.contains(attack.sends);
  const double most = 2 * m.smps_of_a_change * static_cast<double>(m.fails.size()) +
                      static_cast<double>(subnet.switches()) * (m.seconds / 10 + 1) +
                      static_cast<double>(subnet.switches()) * (m.seconds / 5 + 4) +
                      (writes_guids ? 50 * m.seconds : 0);
  EXPECT_LT(static_cast<double>(m.smps), most) << subnet.status();
  EXPECT_LT(largest(m.fails), kLongestFailure.count()) << "a failure that nobody noticed";
  if (!scale.judges_times) return;
  EXPECT_LT(largest(m.waits), kAnswers.count());
  EXPECT_LT(median(m.fails), kTimesAsLong * m.usual);
}

const auto kNames = [](const testing::TestParamInfo<Case>& each) {
  return std::string(each.param.attack->name);
};

INSTANTIATE_TEST_SUITE_P(Brief, Hostile, testing::ValuesIn(cases_of(kBrief)), kNames);
INSTANTIATE_TEST_SUITE_P(Long14Hosts, Hostile, testing::ValuesIn(cases_of(kLong14)), kNames);
INSTANTIATE_TEST_SUITE_P(Long1728Hosts, Hostile, testing::ValuesIn(cases_of(kLong1728)), kNames);

}  // namespace
}  // namespace smd::test
