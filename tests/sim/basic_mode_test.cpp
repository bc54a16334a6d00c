// `basic` mode is the thesis to the letter: the eight-switch example costs 97 discovery SMPs, and
// the requests about nodes 1 to 4 are those of Table 12, with the same LIDs and the same return
// paths. The default mode asks less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "smd/mad/port_info.h"
#include "tests/support/world.h"

namespace smd::test {
namespace {

std::string hops(const HopArray& path, unsigned count, bool reverse) {
  std::string out = "(";
  for (unsigned i = 1; i <= count; ++i) {
    out += fmt::format("{}{}", i == 1 ? "" : ",", path[reverse ? count + 1 - i : i]);
  }
  return out + ")";
}

/// "Get PI 1 (1,1)", "Set PI 0 (1) LID=2".
std::string row(const Smp& smp) {
  const std::string path = hops(smp.initial_path, smp.hop_count, false);
  const char* method = smp.method == Method::Set ? "Set" : "Get";
  switch (static_cast<AttributeId>(smp.attribute_id)) {
    case AttributeId::NodeInfo:
      return fmt::format("{} NI {}", method, path);
    case AttributeId::SwitchInfo:
      return fmt::format("{} SI {}", method, path);
    case AttributeId::PortInfo: {
      std::string out = fmt::format("{} PI {} {}", method, smp.attribute_modifier, path);
      if (smp.method == Method::Set) out += fmt::format(" LID={}", decode_port_info(smp.data)->lid);
      return out;
    }
    default:
      return fmt::format("{} {} {}", method, smp.attribute_id, path);
  }
}

/// Notes what passes; stops noting when discovery ends.
class Recorder final : public Transport {
 public:
  explicit Recorder(Transport& inner) : inner_(inner) {}

  LocalPort local_port() const override { return inner_.local_port(); }

  Result<void> send(const MadPacket& packet) override {
    if (recording) {
      const auto smp = decode_smp(packet.mad);
      requests.push_back(row(*smp));
    }
    return inner_.send(packet);
  }

  void set_handlers(Receive receive, Lost lost) override {
    inner_.set_handlers(
        [this, receive = std::move(receive)](const MadPacket& packet) {
          const auto smp = decode_smp(packet.mad);
          if (recording && smp && smp->directed) {
            returns[hops(smp->initial_path, smp->hop_count, false)] =
                hops(smp->return_path, smp->hop_count, true);
          }
          receive(packet);
        },
        std::move(lost));
  }

  Result<void> set_is_sm(bool is_sm) override { return inner_.set_is_sm(is_sm); }

  bool recording = true;
  std::vector<std::string> requests;
  std::map<std::string, std::string>
      returns;  // by request path; the last hop's entry port first, as Table 12 prints

 private:
  Transport& inner_;
};

struct Discovered {
  std::vector<std::string> requests;
  std::map<std::string, std::string> returns;
  CycleReport cycle;
};

Discovered discover(const std::string& fabric_name, bool literal) {
  sim::SimRuntime runtime;
  sim::SimFabric fabric(runtime, spec_of(fabric_name), sim::Timing::modern(), 1);
  sim::SimTransport port(fabric, fabric.spec().sm_node, fabric.spec().sm_port);
  Recorder recorder(port);
  Settings settings = WorldOptions::default_settings();
  settings.mode.literal = literal;
  SubnetManager::Observer observer;
  observer.on_phase = [&](smd::Phase phase) {
    recorder.recording = phase == smd::Phase::Discovering;
  };
  SubnetManager manager(runtime, recorder, settings, {}, observer);
  manager.start();
  runtime.run_while_not([&] { return manager.cycles() > 0; },
                        runtime.now() + Duration(std::chrono::minutes(1)));
  return {recorder.requests, recorder.returns, *manager.last_cycle()};
}

/// Rows 1 to 36 of Table 12.
const std::vector<std::string> kTable12 = {
    "Get NI ()",      "Get PI 1 ()",          "Set PI 1 () LID=1",    "Get NI (1)",
    "Get SI (1)",     "Get PI 0 (1)",         "Get PI 1 (1)",         "Get PI 2 (1)",
    "Get PI 3 (1)",   "Get PI 4 (1)",         "Set PI 0 (1) LID=2",   "Get NI (1,1)",
    "Get NI (1,2)",   "Get NI (1,3)",         "Get SI (1,1)",         "Get PI 0 (1,1)",
    "Get PI 1 (1,1)", "Get PI 2 (1,1)",       "Get PI 3 (1,1)",       "Get PI 4 (1,1)",
    "Get SI (1,2)",   "Get PI 0 (1,2)",       "Get PI 1 (1,2)",       "Get PI 2 (1,2)",
    "Get PI 3 (1,2)", "Get PI 4 (1,2)",       "Set PI 0 (1,1) LID=3", "Get NI (1,1,1)",
    "Get NI (1,1,2)", "Set PI 0 (1,2) LID=4", "Get NI (1,1,3)",       "Get NI (1,2,1)",
    "Get NI (1,1,4)", "Get NI (1,2,2)",       "Get NI (1,2,3)",       "Get NI (1,2,4)"};

TEST(BasicMode, TheExampleCosts97DiscoverySmps) {
  const Discovered found = discover("example:name=fig67", true);
  EXPECT_EQ(found.cycle.discovery.smps, 97u);
  EXPECT_EQ(found.requests.size(), 97u);
  EXPECT_TRUE(found.cycle.up());
}

TEST(BasicMode, OtherExamplesCostWhatTheFormulaSays) {
  // 1 + 1 for a manager on an adapter + 7 per 4-port switch + 2 per adapter + 1 per switch port
  // that is up.
  EXPECT_EQ(discover("example:name=fig68", true).cycle.discovery.smps, 114u);
  EXPECT_EQ(discover("example:name=fig76", true).cycle.discovery.smps, 96u);
}

TEST(BasicMode, TheRequestsAboutNodes1To4AreTable12) {
  const Discovered found = discover("example:name=fig67", true);
  // Requests about deeper nodes: anything but NodeInfo with three hops or more.
  std::multiset<std::string> shallow;
  for (const std::string& each : found.requests) {
    const auto commas = std::count(each.begin(), each.end(), ',');
    if (commas <= 1 ||
        (commas == 2 && each.starts_with("Get NI") && !each.starts_with("Get NI (1,3")))
      shallow.insert(each);
  }
  EXPECT_EQ(shallow, (std::multiset<std::string>(kTable12.begin(), kTable12.end())));
}

TEST(BasicMode, AnswersComeBackAsTable12Says) {
  const Discovered found = discover("example:name=fig67", true);
  EXPECT_EQ(found.returns.at("()"), "()");
  EXPECT_EQ(found.returns.at("(1)"), "(3)");
  EXPECT_EQ(found.returns.at("(1,1)"), "(4,3)");
  EXPECT_EQ(found.returns.at("(1,2)"), "(1,3)");
  EXPECT_EQ(found.returns.at("(1,3)"), "(1,3)");
}

TEST(DefaultMode, AsksLessForTheSameKnowledge) {
  const Discovered literal = discover("example:name=fig67", true);
  const Discovered lean = discover("example:name=fig67", false);
  EXPECT_TRUE(lean.cycle.up());
  EXPECT_LT(lean.requests.size(), literal.requests.size());
  EXPECT_EQ(lean.cycle.counts, literal.cycle.counts);
}

TEST(DefaultMode, NoLinkIsAskedFromBothEnds) {
  const Discovered lean = discover("fat-tree:k=4,levels=3", false);
  std::size_t probes = 0;
  for (const std::string& each : lean.requests) probes += each.starts_with("Get NI") ? 1 : 0;
  EXPECT_EQ(probes, lean.cycle.counts.links + 1)
      << "one per link, and one for the manager's own node";
}

}  // namespace
}  // namespace smd::test
