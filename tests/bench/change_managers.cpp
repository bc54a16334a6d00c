#include "tests/bench/change_managers.h"

#include <nlohmann/json.hpp>
#include <thread>

#include "smd/admin/client.h"
#include "tests/bench/opensm_on_ibsim.h"
#include "tests/cross/smd_on_ibsim.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Json = nlohmann::json;

double ms(Clock::duration d) { return std::chrono::duration<double, std::milli>(d).count(); }

Clock::duration from_seconds(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Asked over its socket, as operators do.
class Smd final : public Manager {
 public:
  Smd(const test::Ibsim& ibsim,
      const std::filesystem::path& folder,
      const std::vector<std::string>& words)
      : socket_(folder / "smd.sock"), process_(options(ibsim, folder, words)) {}

  bool comes_up(std::chrono::seconds limit) override {
    const auto end = Clock::now() + limit;
    Clock::time_point active = Clock::now();
    double sent_last = -1;
    while (Clock::now() < end && !process_.poll()) {
      const Json status = ask("status");
      if (status.value("state", "") != "master" || sent(status) != sent_last) {
        active = Clock::now();
        sent_last = sent(status);
      }
      if (Clock::now() - active >= kQuiet) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  }

  void before_event() override { sent_before_ = sent(ask("status")); }

  std::optional<Reaction> wait_for_reaction(Clock::time_point event,
                                            std::chrono::seconds limit) override {
    const auto end = Clock::now() + limit;
    Clock::time_point active = Clock::now();
    double sent_last = 0;
    while (Clock::now() < end && !process_.poll()) {
      std::this_thread::sleep_for(100ms);
      const Json status = ask("status");
      if (sent(status) != sent_last || status.value("state", "") != "master") {
        sent_last = sent(status);
        active = Clock::now();
      }
      if (Clock::now() - active < kQuiet) continue;
      const std::optional<Reaction> reaction = read_reaction(event);
      if (reaction) return reaction;
    }
    return std::nullopt;
  }

 private:
  static TimedProcess::Options options(const test::Ibsim& ibsim,
                                       const std::filesystem::path& folder,
                                       const std::vector<std::string>& words) {
    const auto config = test::write_config(folder, "interval_s = 0\n");
    TimedProcess::Options options{
        .argv = {test::smd_path(), "run", "-c", config},
        .env = ibsim.client_environment(ibsim.facts().adapter_ids.front()),
        .out = folder / "smd.out",
        .err = folder / "smd.err"};
    options.argv.insert(options.argv.end(), words.begin(), words.end());
    return options;
  }

  [[nodiscard]] Json ask(const std::string& command) const {
    const auto answer = send_command({.socket = socket_}, command, Json::object());
    return answer && answer->is_object() ? *answer : Json::object();
  }

  /// Traps are repressed outside the window: one each.
  static double sent(const Json& status) {
    if (!status.contains("smp")) return 0;
    return status.at("smp").at("sent").get<double>() +
           status.at("smp").at("unsolicited").get<double>();
  }

  /// From the changes that ended after the event; nothing when there are none yet.
  std::optional<Reaction> read_reaction(Clock::time_point event) {
    Reaction reaction{.smps = sent(ask("status")) - sent_before_};
    const Json answer = ask("changes");
    const Clock::time_point now = Clock::now();
    for (const Json& change : answer.value("changes", Json::array())) {
      const Clock::time_point ended = now - from_seconds(change.at("seconds_ago").get<double>());
      if (ended < event) break;  // newest first
      if (++reaction.rounds > 1) continue;
      reaction.settled_ms = ms(ended - event);
      reaction.tables_ms = reaction.settled_ms - change.at("virtual_ms").value("activate", 0.0);
    }
    if (reaction.rounds == 0) return std::nullopt;
    return reaction;
  }

  std::string socket_;
  TimedProcess process_;
  double sent_before_ = 0;
};

class Opensm final : public Manager {
 public:
  Opensm(const test::Ibsim& ibsim, const std::filesystem::path& folder, unsigned window)
      : opensm_(ibsim, folder, {.window = window}) {}

  ~Opensm() override { static_cast<void>(opensm_.process().terminate(20s)); }

  bool comes_up(std::chrono::seconds limit) override {
    if (!opensm_.wait_until_up(limit)) return false;
    std::this_thread::sleep_for(kQuiet);
    return true;
  }

  void before_event() override { sent_before_ = opensm_.events().back().smps; }

  std::optional<Reaction> wait_for_reaction(Clock::time_point event,
                                            std::chrono::seconds limit) override {
    const auto end = Clock::now() + limit;
    while (Clock::now() < end && !opensm_.process().poll()) {
      std::this_thread::sleep_for(50ms);
      Reaction reaction;
      Clock::time_point last = event;
      bool sweeping = false;
      for (const OpensmEvent& each : opensm_.events()) {
        if (each.at < event) continue;
        last = each.at;
        reaction.rounds += each.what == "sweep" ? 1 : 0;
        sweeping = each.what != "up";
        if (each.what == "routed") reaction.tables_ms = ms(each.at - event);
        if (each.what == "up") reaction.settled_ms = ms(each.at - event);
        reaction.smps = each.smps - sent_before_;
      }
      if (reaction.settled_ms > 0 && !sweeping && Clock::now() - last >= kQuiet) return reaction;
    }
    return std::nullopt;
  }

 private:
  OpensmOnIbsim opensm_;
  double sent_before_ = 0;
};

}  // namespace

std::unique_ptr<Manager> start_smd(const test::Ibsim& ibsim,
                                   const std::filesystem::path& folder,
                                   const std::vector<std::string>& words) {
  return std::make_unique<Smd>(ibsim, folder, words);
}

std::unique_ptr<Manager> start_opensm(const test::Ibsim& ibsim,
                                      const std::filesystem::path& folder,
                                      unsigned window) {
  return std::make_unique<Opensm>(ibsim, folder, window);
}

}  // namespace smd::bench
