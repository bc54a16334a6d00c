#include "tests/bench/change_events.h"

#include <cstdio>
#include <fstream>

#include "tests/bench/timed_process.h"

namespace smd::bench {
namespace {

struct Cable {
  std::string peer;  // the other switch
  unsigned peer_port = 0;
};

/// The cables to other switches of the switch that the last adapter hangs on.
std::vector<Cable> leaf_cables(const std::filesystem::path& net) {
  std::map<std::string, std::vector<Cable>> cables;
  std::string here, leaf;
  bool in_switch = false;
  std::ifstream file(net);
  for (std::string line; std::getline(file, line);) {
    char type[16] = "", id[80] = "", peer[80] = "";
    unsigned port = 0, ports = 0, peer_port = 0;
    if (std::sscanf(line.c_str(), "%15s %u \"%79[^\"]\"", type, &ports, id) == 3) {
      here = id;
      in_switch = std::string(type) == "Switch";
    } else if (std::sscanf(line.c_str(), "[%u]%*[^\"]\"%79[^\"]\"[%u]", &port, peer, &peer_port) ==
               3) {
      if (in_switch && peer[0] == 'S') cables[here].push_back({peer, peer_port});
      if (!in_switch) leaf = peer;
    }
  }
  return cables[leaf];
}

std::string on_console(const char* verb, const std::vector<Cable>& cables) {
  std::string lines;
  for (const Cable& each : cables) {
    lines += std::string(lines.empty() ? "" : "\n") + verb + " \"" + each.peer + "\"[" +
             std::to_string(each.peer_port) + "]";
  }
  return lines;
}

}  // namespace

std::vector<ChangeEvent> cable_events(const std::filesystem::path& net) {
  std::vector<Cable> cable = leaf_cables(net);
  cable.resize(1);
  return {{"cable down", on_console("Unlink", cable), 2 + 2},
          {"cable up", on_console("ReLink", cable), 2 + 2 + 4}};
}

std::vector<ChangeEvent> leaf_events(const std::filesystem::path& net) {
  const std::vector<Cable> cables = leaf_cables(net);
  const auto count = static_cast<double>(cables.size());
  return {{"leaf down", on_console("Unlink", cables), 2 * count},
          {"leaf up", on_console("ReLink", cables), 8 * count}};
}

BlockHashes read_blocks(const test::Ibsim& ibsim, const std::filesystem::path& folder) {
  const auto out = folder / "dump_fts";
  TimedProcess dump({.argv = {"dump_fts", "-n"},
                     .env = ibsim.client_environment(ibsim.facts().adapter_ids.front()),
                     .out = out,
                     .err = folder / "dump_fts.err"});
  static_cast<void>(dump.wait(std::chrono::seconds(300)));
  BlockHashes tables;
  std::vector<std::uint64_t>* table = nullptr;
  std::ifstream file(out);
  for (std::string line; std::getline(file, line);) {
    unsigned lid = 0, port = 0;
    if (line.starts_with("Unicast lids")) {
      const std::size_t guid = line.find("guid 0x");
      table = guid == std::string::npos ? nullptr : &tables[line.substr(guid + 5, 18)];
    } else if (table != nullptr && std::sscanf(line.c_str(), "0x%x %u", &lid, &port) == 2) {
      constexpr std::uint64_t kFnvPrime = 0x100000001b3;
      if (table->size() <= lid / 64) table->resize(lid / 64 + 1);
      std::uint64_t& hash = (*table)[lid / 64];
      hash = (hash ^ (lid << 8U | port)) * kFnvPrime;
    }
  }
  std::filesystem::remove(out);
  return tables;
}

double count_changed(const BlockHashes& before, const BlockHashes& after) {
  double changed = 0;
  for (const auto& [guid, old] : before) {
    const auto now = after.find(guid);
    if (now == after.end()) continue;
    const std::size_t blocks = std::max(old.size(), now->second.size());
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::uint64_t a = i < old.size() ? old[i] : 0;
      const std::uint64_t b = i < now->second.size() ? now->second[i] : 0;
      changed += a != b ? 1 : 0;
    }
  }
  return changed;
}

}  // namespace smd::bench
