// A site goes from Debian's opensm to smd with its imported files while the subnet is up, and back:
// opensm hands over to a manager of higher priority, and takes over when that one is gone. Every
// Set of either is written down on its way (umad_record_shim): no LID moves, smd writes what must
// be other than it was and nothing else, and after each Set of a P_Key table two ports share a
// partition only if they did before the change or do behind it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/cross/imported_site.h"
#include "tests/support/paths.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr unsigned kPortInfo = 0x15, kPKeyTable = 0x16, kSlToVl = 0x17, kLft = 0x19, kSmInfo = 0x20;

/// Of umad_record_shim.
struct SentSet {
  std::string program;
  unsigned attribute = 0;
  std::uint32_t modifier = 0;
  std::string route;  // "0,1,3"; "-": by LID alone
  unsigned lid = 0;
  std::string data;
};

std::vector<SentSet> read_sets(const std::filesystem::path& file) {
  std::vector<SentSet> out;
  std::istringstream lines(read_text(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    SentSet each;
    std::string attribute, modifier;
    words >> each.program >> attribute >> modifier >> each.route >> each.lid >> each.data;
    each.attribute = static_cast<unsigned>(std::stoul(attribute, nullptr, 16));
    each.modifier = static_cast<std::uint32_t>(std::stoul(modifier, nullptr, 16));
    out.push_back(each);
  }
  return out;
}

/// Whose register it is; empty where the route leads nowhere.
std::string node_of(const SentSet& set, std::string from, const SeenFabric& fabric) {
  if (set.lid != 0) {
    const auto lids = fabric.lids();
    const auto at = lids.find(set.lid);
    if (at == lids.end()) return {};
    from = at->second.first;
  }
  if (set.route == "-") return from;
  std::istringstream hops(set.route.substr(1));
  for (std::string hop; std::getline(hops, hop, ',');) {
    if (hop.empty()) continue;
    const auto link = fabric.links.find({from, static_cast<unsigned>(std::stoul(hop))});
    if (link == fabric.links.end()) return {};
    from = link->second.first;
  }
  return from;
}

/// Blocks of forwarding tables as a manager set them last, by node and number.
std::map<std::pair<std::string, std::uint32_t>, std::string> lft_blocks(
    const std::vector<SentSet>& sets, const std::string& host, const SeenFabric& fabric) {
  std::map<std::pair<std::string, std::uint32_t>, std::string> out;
  for (const SentSet& set : sets) {
    if (set.attribute == kLft) out[{node_of(set, host, fabric), set.modifier}] = set.data;
  }
  return out;
}

/// No entry leads elsewhere than before; where there was none there may be one.
bool only_fills(const std::string& before, const std::string& now) {
  if (before.size() != now.size()) return false;
  for (std::size_t i = 0; i < now.size(); i += 2) {
    if (before.substr(i, 2) != "ff" && before.substr(i, 2) != now.substr(i, 2)) return false;
  }
  return true;
}

/// P_Keys of end ports, by node and block.
using KeyBlocks = std::map<std::pair<std::string, unsigned>, std::string>;
using Members = std::map<std::string, std::set<unsigned>>;

KeyBlocks key_blocks(const RegisterFields& fields) {
  KeyBlocks out;
  for (const auto& [field, value] : fields) {
    std::istringstream words(field);
    std::string node, reg;
    unsigned port = 0, block = 0;
    words >> node >> port >> reg;
    const bool is_end_port = node.starts_with('H') || port == 0;
    if (is_end_port && std::sscanf(reg.c_str(), "P_KeyTable[%u]", &block) == 1)
      out[{node, block}] = value;
  }
  return out;
}

Members members_of(const KeyBlocks& blocks) {
  Members out;
  for (const auto& [place, words] : blocks) {
    for (std::size_t i = 0; i + 4 <= words.size(); i += 4)
      out[place.first].insert(static_cast<unsigned>(std::stoul(words.substr(i, 4), nullptr, 16)));
  }
  return out;
}

bool share(const std::set<unsigned>& a, const std::set<unsigned>& b, unsigned partition) {
  const auto is_in = [partition](const std::set<unsigned>& keys, unsigned full) {
    return keys.contains(partition | full);
  };
  const bool both = (is_in(a, 0) || is_in(a, 0x8000)) && (is_in(b, 0) || is_in(b, 0x8000));
  return both && (is_in(a, 0x8000) || is_in(b, 0x8000));
}

/// The first Set behind which two ports share a partition that they share neither before all of
/// them nor behind; empty when there is none.
std::string find_strangers(const std::vector<SentSet>& sets,
                           const std::map<std::string, std::string>& host_of_program,
                           const SeenFabric& fabric,
                           KeyBlocks now,
                           const KeyBlocks& end) {
  const Members before = members_of(now), behind = members_of(end);
  for (const SentSet& set : sets) {
    if (set.attribute != kPKeyTable) continue;
    const std::string node = node_of(set, host_of_program.at(set.program), fabric);
    if (node.empty()) return "a Set that leads nowhere: " + set.route;
    if (node.starts_with('S') && set.modifier >> 16 != 0) continue;
    now[{node, set.modifier & 0xffff}] = set.data;
    const Members members = members_of(now);
    for (const auto& [other, keys] : members) {
      for (const unsigned key : members.at(node)) {
        const unsigned partition = key & 0x7fff;
        if (other == node || partition == 0 || !share(members.at(node), keys, partition)) continue;
        if (share(before.at(node), before.at(other), partition) ||
            share(behind.at(node), behind.at(other), partition))
          continue;
        return fmt::format("{} and {} share 0x{:04x}", node, other, partition);
      }
    }
  }
  return {};
}

/// Those of all fields whose name has this in it.
RegisterFields fields_with(const RegisterFields& fields, const std::string& part) {
  RegisterFields out;
  for (const auto& [field, value] : fields) {
    if (field.find(part) != std::string::npos) out[field] = value;
  }
  return out;
}

class Handover : public ::testing::TestWithParam<SiteOnFabric> {
 protected:
  Handover() : site_(GetParam()), ibsim_(site_.net()) {
    EXPECT_TRUE(ibsim_.ready()) << ibsim_.complaint();
    opensm_host_ = ibsim_.facts().adapter_ids.front();
    smd_host_ = ibsim_.facts().adapter_ids.at(4);
  }

  [[nodiscard]] ProcessOptions recorded(ProcessOptions options) const {
    options.env.emplace_back("SMD_UMAD_RECORD", site_.folder() / "sets");
    return options;
  }

  [[nodiscard]] static std::string shim() { return build_path("tests/libumad_record_shim.so"); }

  [[nodiscard]] std::vector<SentSet> sets() const { return read_sets(site_.folder() / "sets"); }

  /// On another machine, above the one that rules.
  void configure_smd() {
    ASSERT_NE(site_.import(), "");
    std::string text = read_text(site_.folder() / "smd.toml");
    if (const std::size_t port = text.find("port_guid"); port != std::string::npos)
      text.erase(port, text.find('\n', port) - port);
    const std::size_t priority = text.find("priority = 1");
    ASSERT_NE(priority, std::string::npos);
    text.replace(priority, text.find(' ', priority + 11) - priority, "priority = 15");
    std::ofstream(site_.folder() / "smd.toml") << text;
  }

  /// Waits until the fabric is the manager's on this host, itself a full member of the default
  /// partition and the other one a limited one, and nobody sends anything more.
  [[nodiscard]] RegisterFields when_ruled_by(const std::string& host, const std::string& other) {
    RegisterFields seen;
    const bool ruled = wait_until(
        [&] {
          seen = site_.registers(ibsim_);
          const std::string lid = seen[host + " 1 PortInfo Lid"];
          for (const auto& [field, value] : fields_with(seen, "PortInfo SMLid")) {
            const bool is_end_port =
                field.starts_with('H') || field.find(" 0 ") != std::string::npos;
            if (is_end_port && value != lid) return false;
          }
          const auto has = [&](const std::string& whose, const char* key) {
            return seen[whose + " 1 P_KeyTable keys"].find(key) != std::string::npos;
          };
          return has(host, "0xffff") && has(other, "0x7fff");
        },
        30s);
    EXPECT_TRUE(ruled) << host << "\n" << site_.opensm_log();
    std::size_t count = sets().size();
    for (auto since = std::chrono::steady_clock::now();
         std::chrono::steady_clock::now() - since < 1500ms;) {
      std::this_thread::sleep_for(50ms);
      if (sets().size() == count) continue;
      count = sets().size();
      since = std::chrono::steady_clock::now();
    }
    return site_.registers(ibsim_);
  }

  [[nodiscard]] std::vector<SentSet> sets_since(std::size_t begin) const {
    const std::vector<SentSet> all = sets();
    return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.end()};
  }

  ImportedSite site_;
  Ibsim ibsim_;
  std::string opensm_host_, smd_host_;
};

TEST_P(Handover, ToSmdAndBackNothingMovesAndNobodyMeetsAStranger) {
  Process opensm(recorded(site_.opensm(ibsim_, shim())));
  ASSERT_TRUE(wait_until([&] { return site_.opensm_was_up(1); }, 30s)) << site_.opensm_log();
  ::kill(opensm.pid(), SIGHUP);
  ASSERT_TRUE(wait_until([&] { return site_.opensm_was_up(2); }, 30s)) << site_.opensm_log();
  const RegisterFields before = when_ruled_by(opensm_host_, smd_host_);
  const SeenFabric fabric =
      read_ibnetdiscover(tool(ibsim_, ibsim_.facts().adapter_ids.back(), {"ibnetdiscover"}).out);
  const std::map<std::string, std::string> hosts = {{"opensm", opensm_host_}, {"smd", smd_host_}};
  configure_smd();

  const std::size_t handover = sets().size();
  Process smd(recorded(site_.smd(ibsim_, smd_host_, shim())));
  const RegisterFields under_smd = when_ruled_by(smd_host_, opensm_host_);
  const std::vector<SentSet> of_smd = sets_since(handover);

  const std::size_t back = sets().size();
  EXPECT_EQ(smd.terminate(), 0) << smd.err();
  const RegisterFields after = when_ruled_by(opensm_host_, smd_host_);
  const std::vector<SentSet> of_opensm = sets_since(back);

  for (const RegisterFields* each : {&under_smd, &after})
    EXPECT_EQ(fields_with(*each, "PortInfo Lid"), fields_with(before, "PortInfo Lid"));
  EXPECT_EQ(after, before) << "as if nothing had been";

  // What smd wrote: the LID of the manager into every port that asks it, thresholds of errors that
  // ibsim does not keep into the others, and the keys of the two machines of managers. And what the
  // import says: rows towards port 0 of switches, and routes where OpenSM leaves switches without.
  std::vector<SentSet> earlier = sets();
  earlier.resize(handover);
  auto tables = lft_blocks(earlier, opensm_host_, fabric);
  std::map<std::pair<std::string, std::uint32_t>, int> port_infos;
  std::set<std::string> key_tables;
  for (const SentSet& set : of_smd) {
    // What managers tell each other is no register.
    if (set.program != "smd" || set.attribute == kSmInfo) continue;
    const std::string node = node_of(set, smd_host_, fabric);
    if (set.attribute == kPortInfo) {
      EXPECT_EQ((++port_infos[{node, set.modifier & 0xff}]), 1) << node;
    } else if (set.attribute == kPKeyTable) {
      const unsigned port = node.starts_with('H') ? 1 : set.modifier >> 16;
      EXPECT_TRUE(key_tables.insert(fmt::format("{} {}", node, port)).second) << node << " twice";
      EXPECT_EQ(set.modifier & 0xffff, 0u) << "the rest is empty";
    } else if (set.attribute == kSlToVl) {
      EXPECT_EQ(set.modifier & 0xff, 0u) << node;
    } else if (set.attribute == kLft) {
      EXPECT_TRUE(only_fills(tables[{node, set.modifier}], set.data)) << node;
    } else {
      ADD_FAILURE() << fmt::format("attribute 0x{:04x} of {}", set.attribute, node);
    }
  }
  const auto port_before = [&](const std::string& host) {
    const PortKey peer = fabric.links.at({host, 1});
    return fmt::format("{} {}", peer.first, peer.second);
  };
  EXPECT_THAT(key_tables,
              ::testing::UnorderedElementsAre(smd_host_ + " 1",
                                              opensm_host_ + " 1",
                                              port_before(smd_host_),
                                              port_before(opensm_host_)));

  const KeyBlocks begin = key_blocks(before), middle = key_blocks(under_smd);
  EXPECT_NE(begin, middle);
  EXPECT_EQ(find_strangers(of_smd, hosts, fabric, begin, middle), "");
  EXPECT_EQ(find_strangers(of_opensm, hosts, fabric, middle, key_blocks(after)), "");
}

SiteOnFabric with_short_polls(SiteOnFabric site, const std::string& from, const std::string& to) {
  site.replaced.emplace_back(from, to + "\nsminfo_polling_timeout 500");
  return site;
}

/// The second has another SM_Key, which the import says to take away for as long as both run.
INSTANTIATE_TEST_SUITE_P(
    Of,
    Handover,
    ::testing::Values(with_short_polls(hpc_updn_site(), "sminfo_polling_timeout 5000", ""),
                      with_short_polls({.name = "tenants-qos",
                                        .fabric = "fat-tree:k=4,levels=2",
                                        .replaced = {},
                                        .start = ""},
                                       "sm_key 0x00000000c0ffee01",
                                       "sm_key 1")),
    [](const auto& at) {
      std::string name = at.param.name;
      std::erase(name, '-');
      return name;
    });

/// A host of alice's, one of bob's and the path there: what the checker is for.
TEST(Strangers, AreSeenBehindTheSetThatLetsThemMeet) {
  const auto block = [](const std::string& keys) {
    return keys + std::string(128 - keys.size(), '0');
  };
  SeenFabric fabric;
  fabric.links = {{{"H-a", 1}, {"S-s", 1}}, {{"S-s", 2}, {"H-b", 1}}};
  const KeyBlocks begin = {{{"H-a", 0}, block("7fff8001")}, {{"H-b", 0}, block("7fff8002")}};
  KeyBlocks end = begin;
  const std::map<std::string, std::string> hosts = {{"smd", "H-a"}};
  const auto set = [&](const std::string& route, const std::string& keys) {
    return SentSet{"smd", kPKeyTable, 0, route, 0, block(keys)};
  };
  EXPECT_EQ(find_strangers({set("0,1,2", "80027fff")}, hosts, fabric, begin, end), "");
  EXPECT_EQ(find_strangers(
                {set("0,1,2", "7fff0001"), set("0,1,2", "7fff8002")}, hosts, fabric, begin, end),
            "H-b and H-a share 0x0001");
  EXPECT_EQ(find_strangers({set("0", "ffff8001"), set("0", "7fff8001")}, hosts, fabric, begin, end),
            "H-a and H-b share 0x7fff");
  EXPECT_EQ(find_strangers({set("0", "7fff0001")}, hosts, fabric, begin, end), "");
  EXPECT_EQ(find_strangers({set("0,3", "7fff")}, hosts, fabric, begin, end),
            "a Set that leads nowhere: 0,3");
  end = {{{"H-a", 0}, block("ffff")}, {{"H-b", 0}, block("7fff")}};
  EXPECT_EQ(find_strangers({set("0", "ffff8001")}, hosts, fabric, begin, end), "");
}

}  // namespace
}  // namespace smd::test
