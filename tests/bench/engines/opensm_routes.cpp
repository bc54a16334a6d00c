#include "tests/bench/engines/opensm_routes.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "tests/bench/opensm_on_ibsim.h"
#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"

namespace smd::bench {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using Kind = OpensmAnswer::Kind;

/// For the sweep; the largest fabrics take a quarter of a minute on a quiet machine.
constexpr auto kSweepLimit = 300s;

/// OpenSM writes why after its engine has failed.
constexpr auto kToSayWhy = 300ms;

constexpr std::uint8_t kNoSl = 255;  // in the probe's file

struct ProbeLine {
  std::string engine;
  double ms = 0;
  std::string fate;
};

std::vector<ProbeLine> read_probe(const std::filesystem::path& file) {
  std::vector<ProbeLine> out;
  std::ifstream in(file);
  // A line without its end is still being written.
  for (std::string line; std::getline(in, line) && !in.eof();) {
    std::istringstream words(line);
    words >> out.emplace_back().engine >> out.back().ms >> out.back().fate;
  }
  return out;
}

template <class T>
std::vector<T> read_array(std::ifstream& in, std::size_t count) {
  std::vector<T> out(count);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(count * sizeof(T)));
  return out;
}

LidMap read_lids(const Fabric& fabric, const std::vector<std::uint64_t>& owners) {
  std::unordered_map<Guid, PortIdx> ports;  // look-ups only
  for (const PortIdx port : fabric.peer.indices()) {
    if (fabric.is_end_port(port)) ports.emplace(fabric.port_guid[port], port);
  }
  LidMap lids = make_lid_map(fabric);
  for (std::size_t value = 1; value < owners.size(); ++value) {
    const auto found = ports.find(Guid{owners[value]});
    if (found != ports.end() && lids.base[found->second] == kUnassignedLid)
      set_lid(lids, found->second, Lid{static_cast<std::uint16_t>(value)}, 0);
  }
  return lids;
}

bool read_routes(const Fabric& fabric, const std::filesystem::path& file, OpensmRoutes& out) {
  std::ifstream in(file, std::ios::binary);
  const auto counts = read_array<std::uint32_t>(in, 2);
  if (!in || counts[1] == 0 || counts[1] > 49152) return false;
  out.lids = read_lids(fabric, read_array<std::uint64_t>(in, counts[1]));
  const Lid top{static_cast<std::uint16_t>(counts[1] - 1)};
  out.tables.lft = ForwardingTables{fabric.switch_count(), top};
  out.tables.path_sls = PathSls{fabric.switch_count(), top};
  for (std::uint32_t i = 0; i < counts[0]; ++i) {
    const auto guid = read_array<std::uint64_t>(in, 1);
    const auto ports = read_array<std::uint8_t>(in, counts[1]);
    const auto sls = read_array<std::uint8_t>(in, counts[1]);
    const auto node = fabric.find_node(Guid{guid.front()});
    if (!in || !node || fabric.switch_of[*node] == kNone<SwitchIdx>) return false;
    const SwitchIdx sw = fabric.switch_of[*node];
    for (std::size_t value = 0; value < ports.size(); ++value) {
      const Lid lid{static_cast<std::uint16_t>(value)};
      out.tables.lft.set_route(sw, lid, PortNum{ports[value]});
      if (sls[value] == kNoSl) continue;
      const auto sl = static_cast<std::uint8_t>(sls[value] % 16);
      out.tables.path_sls.set_sl(sw, lid, sl);
      out.tables.vls = std::max(out.tables.vls, sl + 1u);
    }
  }
  return counts[0] == fabric.switch_count();
}

/// The number after the last `words` in the log.
unsigned read_number(const std::string& log, std::string_view words) {
  std::size_t at = log.rfind(words);
  if (at == std::string::npos) return 0;
  at += words.size();
  while (at < log.size() && !std::isdigit(static_cast<unsigned char>(log[at]))) ++at;
  return at < log.size() ? static_cast<unsigned>(std::stoul(log.substr(at, 6))) : 0;
}

/// "dfsssp_remove_deadlocks: ERR AD25: Not enough VLs …": the last error with a number, or else the
/// last that is about routes.
std::string last_error(const std::string& log) {
  std::string numbered, other = "no error in its log";
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(" 0x01 -> ");
    if (at == std::string::npos || line.find("log_trap_info") != std::string::npos) continue;
    // It heeds the first all the same; the second follows every failure.
    const bool idle = line.find("'no_fallback'") != std::string::npos ||
                      line.find("No routing engine able") != std::string::npos;
    if (idle) continue;
    (line.find(": ERR ") != std::string::npos ? numbered : other) = line.substr(at + 9, 120);
  }
  return numbered.empty() ? other : numbered;
}

}  // namespace

OpensmAnswer ask_opensm(const Fabric& fabric,
                        const std::filesystem::path& net,
                        const std::string& engine,
                        const std::string& options,
                        std::chrono::seconds limit) {
  OpensmAnswer answer;
  const test::Scratch folder;
  const test::Ibsim ibsim(net);
  if (!ibsim.ready()) {
    answer.why = "ibsim does not start: " + ibsim.complaint();
    return answer;
  }
  OpensmOnIbsim opensm(ibsim,
                       folder.path(),
                       {.window = 128,
                        .plugin = "smd_route_probe",
                        .config = "routing_engine " + engine + ",no_fallback\n" +
                                  "max_op_vls 5\nforce_log_flush TRUE\n" + options});
  auto end = Clock::now() + kSweepLimit;
  std::vector<ProbeLine> lines;
  for (bool begun = false; lines.size() < 2; lines = read_probe(opensm.probe_file())) {
    if (!begun && !lines.empty()) {
      begun = true;
      end = Clock::now() + limit;
    }
    if (opensm.process().poll()) {
      answer.why = "opensm ended: " + last_error(test::read_text(folder.path() / "opensm.log"));
      return answer;
    }
    if (Clock::now() > end) {
      answer.kind = begun ? Kind::OverLimit : Kind::Broken;
      answer.why = begun ? "no routes at the limit" : "its sweep does not end";
      return answer;
    }
    std::this_thread::sleep_for(20ms);
  }
  const ProbeLine& line = lines[1];
  const std::string log = test::read_text(folder.path() / "opensm.log");
  answer.ms = line.ms;
  if (line.fate != "routed") {
    answer.kind = Kind::Failed;
    std::this_thread::sleep_for(kToSayWhy);
    answer.why = last_error(test::read_text(folder.path() / "opensm.log"));
    return answer;
  }
  answer.lanes_needed = read_number(log, "Lanes needed:");
  const bool read = read_routes(fabric, opensm.probe_file().string() + ".routes", answer.routes);
  answer.kind = read ? Kind::Routed : Kind::Broken;
  if (!read) answer.why = "its routes are not those of the fabric";
  return answer;
}

}  // namespace smd::bench
