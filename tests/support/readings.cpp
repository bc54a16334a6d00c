#include "tests/support/readings.h"

#include <fmt/format.h>

#include <cstdio>
#include <functional>
#include <optional>

namespace smd::test {
namespace {

void for_each_line(std::string_view text, const std::function<void(const std::string&)>& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(std::string(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The number after `word`, as in "lid 12".
std::optional<unsigned> number_after(const std::string& line, std::string_view word) {
  const std::size_t at = line.find(word);
  unsigned value = 0;
  if (at == std::string::npos) return std::nullopt;
  if (std::sscanf(line.c_str() + at + word.size(), "%u", &value) != 1) return std::nullopt;
  return value;
}

std::string between_quotes(const std::string& line, std::size_t from = 0) {
  const std::size_t begin = line.find('"', from);
  const std::size_t end = begin == std::string::npos ? begin : line.find('"', begin + 1);
  return end == std::string::npos ? std::string() : line.substr(begin + 1, end - begin - 1);
}

std::map<unsigned, unsigned>& table_of(SeenTables& tables, const std::string& header) {
  unsigned long long guid = 0;
  const std::size_t at = header.find("guid ");
  if (at != std::string::npos) std::sscanf(header.c_str() + at, "guid %llx", &guid);
  return tables[fmt::format("S-{:016x}", guid)];
}

/// "0x0005 019 : (…)": LID and egress port.
bool read_entry(const std::string& line, std::map<unsigned, unsigned>& table) {
  unsigned lid = 0, port = 0;
  if (std::sscanf(line.c_str(), "0x%4x %3u", &lid, &port) != 2) return false;
  table[lid] = port;
  return true;
}

}  // namespace

std::map<unsigned, PortKey> SeenFabric::lids() const {
  std::map<unsigned, PortKey> result;
  for (const auto& [id, node] : nodes) {
    for (const auto& [port, lid] : node.lids) result[lid] = {id, port};
  }
  return result;
}

std::map<PortKey, unsigned> SeenFabric::lid_of_port() const {
  std::map<PortKey, unsigned> result;
  for (const auto& [id, node] : nodes) {
    for (const auto& [port, lid] : node.lids) result[{id, port}] = lid;
  }
  return result;
}

// Switch  8 "S-0000000000200000"    # "Switch1" base port 0 lid 2 lmc 0
// [1]  "H-0000000000100000"[1](100001)     # "Hca1" lid 1 4xSDR
// Ca  2 "H-0000000000100003"    # "Hca2"
// [2](100005)   "S-0000000000200000"[2]    # lid 4 lmc 0 "Switch1" lid 2 4xSDR
SeenFabric read_ibnetdiscover(std::string_view text) {
  SeenFabric fabric;
  std::string id;
  for_each_line(text, [&](const std::string& line) {
    unsigned port = 0, peer_port = 0;
    const std::size_t note = std::min(line.find('#'), line.size());
    if (std::sscanf(line.c_str(), "[%u]", &port) == 1) {
      const std::string peer = between_quotes(line);
      const std::size_t after = line.find(peer + "\"[") + peer.size() + 2;
      if (std::sscanf(line.c_str() + after, "%u", &peer_port) != 1) return;
      fabric.links[{id, port}] = {peer, peer_port};
      SeenNode& node = fabric.nodes[id];
      if (!node.is_switch) {
        if (const auto lid = number_after(line.substr(note), "lid ")) node.lids[port] = *lid;
      }
      return;
    }
    const bool is_switch = line.starts_with("Switch\t");
    if (!is_switch && !line.starts_with("Ca\t") && !line.starts_with("Rt\t")) return;
    id = between_quotes(line);
    SeenNode& node = fabric.nodes[id];
    node.is_switch = is_switch;
    node.description = between_quotes(line, note);
    const std::size_t after_name = line.rfind('"');
    if (is_switch) {
      if (const auto lid = number_after(line.substr(after_name), " lid ")) node.lids[0] = *lid;
    }
  });
  return fabric;
}

// 0x…100005 "   Hca2"   4  2[  ] ==( 4X  2.5 Gbps Active/  LinkUp)==>  0x…
std::vector<SeenState> read_iblinkinfo(std::string_view text) {
  std::vector<SeenState> states;
  for_each_line(text, [&](const std::string& line) {
    const std::size_t open = line.find("==(");
    const std::size_t close = line.find(")==>");
    if (open == std::string::npos || close == std::string::npos) return;
    const std::string link = line.substr(open + 3, close - open - 3);
    const std::size_t slash = link.find('/');
    if (slash == std::string::npos) return;
    const auto word = [](const std::string& part) {
      const std::size_t end = part.find_last_not_of(' ');
      const std::size_t begin = part.rfind(' ', end);
      return end == std::string::npos
                 ? std::string()
                 : part.substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
    };
    states.push_back({.port = line.substr(0, open),
                      .logical = word(link.substr(0, slash)),
                      .physical = word(link.substr(slash + 1))});
  });
  return states;
}

SeenTables read_dump_fts(std::string_view text) {
  SeenTables tables;
  std::map<unsigned, unsigned>* table = nullptr;
  for_each_line(text, [&](const std::string& line) {
    if (line.starts_with("Unicast lids")) {
      table = &table_of(tables, line);
    } else if (table != nullptr) {
      read_entry(line, *table);
    }
  });
  return tables;
}

std::map<unsigned, unsigned> read_ibroute(std::string_view text) {
  std::map<unsigned, unsigned> table;
  for_each_line(text, [&](const std::string& line) { read_entry(line, table); });
  return table;
}

std::vector<std::string> find_broken_routes(const SeenFabric& fabric,
                                            const SeenTables& tables,
                                            std::size_t most) {
  std::vector<std::string> broken;
  const std::map<unsigned, PortKey> destinations = fabric.lids();
  for (const auto& [lid, goal] : destinations) {
    std::map<std::string, bool> arrives;  // by switch
    const std::function<bool(const std::string&, std::size_t)> walk = [&](const std::string& at,
                                                                          std::size_t hops) {
      if (const auto known = arrives.find(at); known != arrives.end()) return known->second;
      if (hops > tables.size()) return false;
      const auto table = tables.find(at);
      if (table == tables.end()) return false;
      const auto entry = table->second.find(lid);
      if (entry == table->second.end()) return false;
      if (entry->second == 0) return arrives[at] = goal == PortKey{at, 0};
      const auto link = fabric.links.find({at, entry->second});
      if (link == fabric.links.end()) return arrives[at] = false;
      const PortKey& next = link->second;
      if (next == goal) return arrives[at] = true;
      const auto node = fabric.nodes.find(next.first);
      const bool ok =
          node != fabric.nodes.end() && node->second.is_switch && walk(next.first, hops + 1);
      return arrives[at] = ok;
    };
    for (const auto& [id, node] : fabric.nodes) {
      if (broken.size() >= most) return broken;
      if (node.is_switch && !walk(id, 0))
        broken.push_back(fmt::format("from switch {} to lid {}", id, lid));
    }
  }
  return broken;
}

}  // namespace smd::test
