// A site goes from Debian's opensm to smd with its imported files while the subnet is up, and back:
// opensm hands over to a manager of higher priority, and takes over when that one is gone. Every
// Set of either is written down on its way (umad_record_shim): no LID moves, smd writes what must
// be other than it was and nothing else, each Set of PortInfo has values that the port has before
// or behind, and after each Set of a P_Key table, of the port or of the switch port before it, two
// ports share a partition only if they did before the change or do behind it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/mad.h>

#include <signal.h>

#include <array>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "tests/cross/imported_site.h"
#include "tests/support/paths.h"
#include "tests/support/readings.h"
#include "tests/support/wait_until.h"

namespace smd::test {
namespace handover_test {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;

constexpr unsigned kPortInfo = 0x15, kPKeyTable = 0x16, kSlToVl = 0x17, kVlArbitration = 0x18,
                   kLft = 0x19, kSmInfo = 0x20;

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

/// LIDs that this block leads elsewhere than before; where it led nowhere it may lead somewhere.
std::set<unsigned> lids_led_elsewhere(std::uint32_t block,
                                      const std::string& before,
                                      const std::string& now) {
  std::set<unsigned> out;
  for (unsigned i = 0; i < 64; ++i) {
    const std::string old = before.size() == now.size() ? before.substr(2 * i, 2) : "";
    if (old != "ff" && old != now.substr(2 * i, 2)) out.insert(64 * block + i);
  }
  return out;
}

/// Where P_Keys are looked at: in the end ports themselves, or in the switch ports before adapters,
/// which stop the packets of an adapter that goes by no table of its own.
enum class Tables { OfEndPorts, BeforeAdapters };

/// The port that a table counts for; empty where it is none of these.
std::string owner_of(const std::string& node,
                     unsigned port,
                     const SeenFabric& fabric,
                     Tables which) {
  const bool is_end_port = node.starts_with('H') || port == 0;
  if (which == Tables::OfEndPorts) return is_end_port ? node : "";
  const auto link = fabric.links.find({node, port});
  const bool is_before = !is_end_port && link != fabric.links.end();
  return is_before && link->second.first.starts_with('H') ? link->second.first : "";
}

/// P_Keys by owner and block.
using KeyBlocks = std::map<std::pair<std::string, unsigned>, std::string>;
using Members = std::map<std::string, std::set<unsigned>>;

KeyBlocks key_blocks(const RegisterFields& fields, const SeenFabric& fabric, Tables which) {
  KeyBlocks out;
  for (const auto& [field, value] : fields) {
    std::istringstream words(field);
    std::string node, reg;
    unsigned port = 0, block = 0;
    words >> node >> port >> reg;
    if (std::sscanf(reg.c_str(), "P_KeyTable[%u]", &block) != 1) continue;
    const std::string owner = owner_of(node, port, fabric, which);
    if (!owner.empty()) out[{owner, block}] = value;
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
                           Tables which,
                           KeyBlocks now,
                           const KeyBlocks& end) {
  const Members before = members_of(now), behind = members_of(end);
  for (const SentSet& set : sets) {
    if (set.attribute != kPKeyTable) continue;
    const std::string node = node_of(set, host_of_program.at(set.program), fabric);
    if (node.empty()) return "a Set that leads nowhere: " + set.route;
    const std::string owner =
        owner_of(node, node.starts_with('S') ? set.modifier >> 16 : 1, fabric, which);
    if (owner.empty()) continue;
    now[{owner, set.modifier & 0xffff}] = set.data;
    const Members members = members_of(now);
    for (const auto& [other, keys] : members) {
      for (const unsigned key : members.at(owner)) {
        const unsigned partition = key & 0x7fff;
        if (other == owner || partition == 0 || !share(members.at(owner), keys, partition))
          continue;
        if (share(before.at(owner), before.at(other), partition) ||
            share(behind.at(owner), behind.at(other), partition))
          continue;
        return fmt::format("{} and {} share 0x{:04x}", owner, other, partition);
      }
    }
  }
  return {};
}

/// What a PortInfo says, in the words of libibmad.
std::map<std::string, std::string> port_info_fields(const std::string& hex) {
  std::array<std::uint8_t, IB_SMP_DATA_SIZE> block{};
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<std::uint8_t>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  std::array<char, 4096> text{};
  mad_dump_portinfo(
      text.data(), static_cast<int>(text.size()), block.data(), static_cast<int>(block.size()));
  std::map<std::string, std::string> out;
  std::istringstream lines(text.data());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t value = line.find_first_not_of('.', colon + 1);
    out[line.substr(0, colon)] = value == std::string::npos ? "" : line.substr(value);
  }
  return out;
}

/// Fields of PortInfo that are what they were set to; of the others a value stands for no change,
/// or they count. ibsim keeps some of them alone, so that Sets are compared with Sets.
constexpr const char* kKeptFields[] = {"Mkey",
                                       "GidPrefix",
                                       "Lid",
                                       "SMLid",
                                       "MkeyLeasePeriod",
                                       "ProtectBits",
                                       "LMC",
                                       "SMSL",
                                       "NeighborMTU",
                                       "VLHighLimit",
                                       "VLStallCount",
                                       "HoqLife",
                                       "OperVLs",
                                       "PartEnforceInb",
                                       "PartEnforceOutb",
                                       "FilterRawInb",
                                       "FilterRawOutb",
                                       "SubnetTimeout"};

/// PortInfo of each port as it was set last.
class SetPorts {
 public:
  SetPorts(const SeenFabric& fabric, const std::map<std::string, std::string>& host_of_program)
      : fabric_(fabric), hosts_(host_of_program) {}

  /// What these Sets make other than it was, but for the LID of the manager, which becomes
  /// `manager`; a line for each.
  std::vector<std::string> apply(const std::vector<SentSet>& sets, const std::string& manager) {
    std::vector<std::string> changes;
    for (const SentSet& set : sets) {
      if (set.attribute != kPortInfo) continue;
      const std::string node = node_of(set, hosts_.at(set.program), fabric_);
      const unsigned number = node.starts_with('H') ? 1 : set.modifier & 0xff;
      auto fields = port_info_fields(set.data);
      auto& port = ports_[{node, number}];
      for (const char* name : kKeptFields) {
        const auto old = port.find(name);
        const std::string& now = fields.at(name);
        const bool is_manager = name == std::string_view("SMLid") && now == manager;
        if (old != port.end() && old->second != now && !is_manager)
          changes.push_back(
              fmt::format("{} {} {}: {}, was {}", node, number, name, now, old->second));
      }
      port = std::move(fields);
    }
    return changes;
  }

  [[nodiscard]] std::size_t count() const { return ports_.size(); }

 private:
  const SeenFabric& fabric_;
  std::map<std::string, std::string> hosts_;
  std::map<PortKey, std::map<std::string, std::string>> ports_;
};

/// Those of all fields whose name has this in it.
RegisterFields fields_with(const RegisterFields& fields, const std::string& part) {
  RegisterFields out;
  for (const auto& [field, value] : fields) {
    if (field.find(part) != std::string::npos) out[field] = value;
  }
  return out;
}

struct HandedSite {
  SiteOnFabric site;
  bool has_partitions = true;  // and SELF alone is a full member of the default one
  bool has_engine = true;      // the one that smd routes with, too
  bool in_turns = false;       // on one machine, for OpenSM disregards other managers
  /// Switches of the top level: of their two LIDs OpenSM leads one over the second leaf and one
  /// over the third, both ways, which with the ways up and down there is a credit loop.
  std::vector<std::string> tops_in_a_loop = {};

  friend void PrintTo(const HandedSite& at, std::ostream* out) { *out << at.site.name; }
};

class Handover : public ::testing::TestWithParam<HandedSite> {
 protected:
  Handover() : site_(GetParam().site), ibsim_(site_.net()) {
    EXPECT_TRUE(ibsim_.ready()) << ibsim_.complaint();
    opensm_host_ = ibsim_.facts().adapter_ids.front();
    other_host_ = ibsim_.facts().adapter_ids.at(4);
    smd_host_ = GetParam().in_turns ? opensm_host_ : other_host_;
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
    if (const std::size_t at = text.find("\npriority = "); at != std::string::npos)
      text.erase(at, text.find('\n', at + 1) - at);
    const std::string head = "[sm]\n";
    ASSERT_NE(text.find(head), std::string::npos);
    text.insert(text.find(head) + head.size(), "priority = 15\n");
    std::ofstream(site_.folder() / "smd.toml") << text;
  }

  /// Waits until the fabric is the manager's on this host, itself a full member of the default
  /// partition and the other one a limited one, and nobody sends anything more.
  [[nodiscard]] RegisterFields when_ruled_by(const std::string& host) {
    const std::string& other = host == opensm_host_ ? other_host_ : opensm_host_;
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
          const std::string others = GetParam().has_partitions ? "0x7fff" : "0xffff";
          return has(host, "0xffff") && has(other, others.c_str());
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
  std::string opensm_host_, smd_host_, other_host_;
};

TEST_P(Handover, ToSmdAndBackNothingMovesAndNobodyMeetsAStranger) {
  auto opensm = std::make_unique<Process>(recorded(site_.opensm(ibsim_, shim())));
  ASSERT_TRUE(wait_until([&] { return site_.opensm_was_up(1); }, 30s)) << site_.opensm_log();
  ::kill(opensm->pid(), SIGHUP);
  ASSERT_TRUE(wait_until([&] { return site_.opensm_was_up(2); }, 30s)) << site_.opensm_log();
  const RegisterFields before = when_ruled_by(opensm_host_);
  const SeenFabric fabric = read_ibnetdiscover(tool(ibsim_,
                                                    ibsim_.facts().adapter_ids.back(),
                                                    {"ibnetdiscover", "-y", GetParam().site.m_key})
                                                   .out);
  const std::map<std::string, std::string> hosts = {{"opensm", opensm_host_}, {"smd", smd_host_}};
  configure_smd();

  const std::size_t handover = sets().size();
  if (GetParam().in_turns) opensm->terminate();
  Process smd(recorded(site_.smd(ibsim_, smd_host_, shim())));
  if (GetParam().in_turns) {
    const auto is_up = [&] {
      return read_text(site_.folder() / "site-opensm.log").find("result=up") != std::string::npos;
    };
    ASSERT_TRUE(wait_until(is_up, 30s)) << smd.err();
  }
  const RegisterFields under_smd = when_ruled_by(smd_host_);
  const std::vector<SentSet> of_smd = sets_since(handover);

  const std::size_t back = sets().size();
  EXPECT_EQ(smd.terminate(), 0) << smd.err();
  if (GetParam().in_turns) {
    opensm = std::make_unique<Process>(recorded(site_.opensm(ibsim_, shim())));
    ASSERT_TRUE(wait_until([&] { return site_.opensm_was_up(1); }, 30s)) << site_.opensm_log();
  }
  const RegisterFields after = when_ruled_by(opensm_host_);
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
  std::set<unsigned> in_a_loop;
  for (const std::string& top : GetParam().tops_in_a_loop) {
    const auto lid = static_cast<unsigned>(std::stoul(before.at(top + " 0 PortInfo Lid")));
    in_a_loop.insert({lid, lid + 1});
  }
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
      EXPECT_TRUE(!GetParam().has_engine || (set.modifier & 0xff) == 0) << node;
    } else if (set.attribute == kLft) {
      if (!GetParam().has_engine) continue;
      EXPECT_THAT(lids_led_elsewhere(set.modifier, tables[{node, set.modifier}], set.data),
                  ::testing::Each(::testing::AnyOfArray(in_a_loop)))
          << node;
    } else if (set.attribute != kVlArbitration || GetParam().has_engine) {
      ADD_FAILURE() << fmt::format("attribute 0x{:04x} of {}", set.attribute, node);
    }
  }
  const auto port_before = [&](const std::string& host) {
    const PortKey peer = fabric.links.at({host, 1});
    return fmt::format("{} {}", peer.first, peer.second);
  };
  const std::set<std::string> of_managers = {
      smd_host_ + " 1", opensm_host_ + " 1", port_before(smd_host_), port_before(opensm_host_)};
  const bool keys_move = GetParam().has_partitions && !GetParam().in_turns;
  EXPECT_EQ(key_tables, keys_move ? of_managers : std::set<std::string>{});

  for (const Tables which : {Tables::OfEndPorts, Tables::BeforeAdapters}) {
    const KeyBlocks begin = key_blocks(before, fabric, which),
                    middle = key_blocks(under_smd, fabric, which),
                    end = key_blocks(after, fabric, which);
    EXPECT_EQ(begin != middle, keys_move);
    EXPECT_EQ(find_strangers(of_smd, hosts, fabric, which, begin, middle), "");
    EXPECT_EQ(find_strangers(of_opensm, hosts, fabric, which, middle, end), "");
  }
  SetPorts ports(fabric, hosts);
  ports.apply(earlier, "");
  EXPECT_GE(ports.count(), fabric.links.size()) << "every port was set";
  const auto lid_of = [&](const std::string& host) { return before.at(host + " 1 PortInfo Lid"); };
  std::vector<std::string> changes = ports.apply(of_smd, lid_of(smd_host_));
  // The SL to the manager is that of its routes, and no option's.
  if (!GetParam().has_engine || GetParam().in_turns)
    std::erase_if(changes, [](const auto& each) { return each.find(" SMSL: ") != each.npos; });
  EXPECT_THAT(changes, ::testing::IsEmpty());
}

SiteOnFabric with_short_polls(SiteOnFabric site, const std::string& from, const std::string& to) {
  site.replaced.emplace_back(from, to + "\nsminfo_polling_timeout 500");
  return site;
}

/// The second has another SM_Key, which the import says to take away for as long as both run; the
/// last has `ignore_other_sm`.
INSTANTIATE_TEST_SUITE_P(
    Of,
    Handover,
    ::testing::Values(
        HandedSite{with_short_polls(hpc_updn_site(), "sminfo_polling_timeout 5000", "")},
        HandedSite{with_short_polls(
            {.name = "tenants-qos", .fabric = "fat-tree:k=4,levels=2", .replaced = {}, .start = ""},
            "sm_key 0x00000000c0ffee01",
            "sm_key 1")},
        HandedSite{.site = with_short_polls({.name = "torus-lmc",
                                             .fabric = "torus:dims=3.3,hosts=1",
                                             .replaced = {},
                                             .start = "",
                                             .m_key = "0x0badcafe"},
                                            "sminfo_polling_timeout 3000",
                                            ""),
                   .has_partitions = false,
                   .has_engine = false},
        HandedSite{.site = every_option_site(),
                   .in_turns = true,
                   .tops_in_a_loop = {"S-0002000000000004", "S-0002000000000005"}}),
    [](const auto& at) {
      std::string name = at.param.site.name;
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
  const auto strangers = [&](const std::vector<SentSet>& sets) {
    return find_strangers(sets, hosts, fabric, Tables::OfEndPorts, begin, end);
  };
  EXPECT_EQ(strangers({set("0,1,2", "80027fff")}), "");
  EXPECT_EQ(strangers({set("0,1,2", "7fff0001"), set("0,1,2", "7fff8002")}),
            "H-b and H-a share 0x0001");
  EXPECT_EQ(strangers({set("0", "ffff8001"), set("0", "7fff8001")}), "H-a and H-b share 0x7fff");
  EXPECT_EQ(strangers({set("0", "7fff0001")}), "");
  EXPECT_EQ(strangers({set("0,3", "7fff")}), "a Set that leads nowhere: 0,3");
  end = {{{"H-a", 0}, block("ffff")}, {{"H-b", 0}, block("7fff")}};
  EXPECT_EQ(strangers({set("0", "ffff8001")}), "");
}

/// The switch port before a host of alice's lets it send as one of bob's for a moment.
TEST(Strangers, AreSeenInTheSwitchPortBeforeAnAdapter) {
  const auto block = [](const std::string& keys) {
    return keys + std::string(128 - keys.size(), '0');
  };
  SeenFabric fabric;
  fabric.links = {{{"H-a", 1}, {"S-s", 1}},
                  {{"S-s", 1}, {"H-a", 1}},
                  {{"S-s", 2}, {"H-b", 1}},
                  {{"S-s", 3}, {"S-t", 3}}};
  RegisterFields before;
  before["S-s 1 P_KeyTable[0] block"] = block("8001");
  before["S-s 2 P_KeyTable[0] block"] = block("8002");
  before["S-s 3 P_KeyTable[0] block"] = before["H-a 1 P_KeyTable[0] block"] = block("8003");
  const KeyBlocks begin = key_blocks(before, fabric, Tables::BeforeAdapters);
  EXPECT_THAT(begin,
              ::testing::ElementsAre(::testing::Key(::testing::Pair("H-a", 0u)),
                                     ::testing::Key(::testing::Pair("H-b", 0u))));
  const auto strangers = [&](std::uint32_t port, const std::string& keys) {
    const std::vector<SentSet> sets = {{"smd", kPKeyTable, port << 16, "0,1", 0, block(keys)},
                                       {"smd", kPKeyTable, 1 << 16, "0,1", 0, block("8001")}};
    return find_strangers(sets, {{"smd", "H-a"}}, fabric, Tables::BeforeAdapters, begin, begin);
  };
  EXPECT_EQ(strangers(1, "80018002"), "H-a and H-b share 0x0002");
  EXPECT_EQ(strangers(1, "80018005"), "") << "where nobody is";
  EXPECT_EQ(strangers(3, "80018002"), "") << "between switches";
  EXPECT_EQ(strangers(0, "80018002"), "") << "an end port's own";
}

TEST(SetPorts, SayWhatASetMakesOtherThanItWas) {
  SeenFabric fabric;
  fabric.links = {{{"H-a", 1}, {"S-s", 1}}};
  const auto set = [](std::size_t byte, const char* value) {
    std::string data(128, '0');
    data.replace(2 * byte, 2, value);
    return std::vector<SentSet>{{"smd", kPortInfo, 1, "0,1", 0, data}};
  };
  // Bytes of PortInfo (IBA 14.2.5.6): the LID ends with 17, the manager's with 19, 43 has OperVLs
  // and the enforcement of partitions.
  SetPorts ports(fabric, {{"smd", "H-a"}});
  EXPECT_THAT(ports.apply(set(43, "4c"), "5"), ::testing::IsEmpty()) << "the first";
  EXPECT_THAT(ports.apply(set(43, "4c"), "5"), ::testing::IsEmpty());
  EXPECT_THAT(ports.apply(set(43, "44"), "5"),
              ::testing::ElementsAre("S-s 1 PartEnforceInb: 0, was 1"));
  EXPECT_THAT(ports.apply(set(43, "4c"), "5"),
              ::testing::ElementsAre("S-s 1 PartEnforceInb: 1, was 0"));
  SetPorts others(fabric, {{"smd", "H-a"}});
  EXPECT_THAT(others.apply(set(19, "04"), "4"), ::testing::IsEmpty());
  EXPECT_THAT(others.apply(set(19, "05"), "5"), ::testing::IsEmpty());
  EXPECT_THAT(others.apply(set(19, "06"), "5"), ::testing::ElementsAre("S-s 1 SMLid: 6, was 5"));
  EXPECT_THAT(others.apply(set(17, "07"), "0"), ::testing::ElementsAre("S-s 1 Lid: 7, was 0"));
  EXPECT_EQ(others.count(), 1u);
}

}  // namespace handover_test
}  // namespace smd::test
