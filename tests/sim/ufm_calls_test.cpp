// UFM's calls on a subnet that is up: bodies as open clients send and read them, what an order
// writes, and everything that is refused, after which nothing is other than before.
#include <gmock/gmock.h>

#include "smd/base/rng.h"
#include "tests/sim/ordered_partitions.h"

namespace smd::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kToken = "0123456789abcdef0123456789abcdef";

struct Called : Ordered {
  explicit Called(const std::string& file = "Site=0x11: ALL=full;", bool show_keys = false)
      : Ordered(file), calls(context(), {.tokens = {kToken}, .show_keys = show_keys}) {}

  HttpAnswer call(const std::string& method,
                  const std::string& page,
                  const std::string& body = "") {
    return answer_of(calls,
                     {.method = method,
                      .target = "/ufmRest/" + page,
                      .authorization = "Bearer " + kToken,
                      .body = body});
  }

  /// Of a call that is answered; orders are in force afterwards.
  Json get(const std::string& method, const std::string& page, const Json& body = Json()) {
    const HttpAnswer got = call(method, page, body.is_null() ? "" : body.dump());
    EXPECT_EQ(got.status, 200u) << *got.body;
    EXPECT_EQ(got.type, "application/json");
    EXPECT_TRUE(settle());
    return Json::parse(*got.body);
  }

  /// Of one that is not: its status and line.
  std::string refuse(const std::string& method, const std::string& page, const std::string& body) {
    const PartitionOrders before = control.orders();
    const std::uint64_t refused = calls.stats().refused;
    const HttpAnswer got = call(method, page, body);
    EXPECT_EQ(control.orders(), before) << body;
    EXPECT_FALSE(manager.is_adopting_partitions());
    EXPECT_EQ(calls.stats().refused, refused + 1) << body;
    const std::string line = Json::parse(*got.body).value("error", "");
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    return fmt::format("{} {}", got.status, line);
  }

  std::string digits(std::size_t host) const { return print_guid(host).substr(2); }

  Json guids(std::initializer_list<std::size_t> members) const {
    Json out = Json::array();
    for (const std::size_t host : members) out.push_back(digits(host));
    return out;
  }

  UfmCalls calls;
};

TEST(UfmCalls, AClientOfKubernetesAddsAndRemoves) {
  Called lab;
  lab.bring_up();
  EXPECT_TRUE(lab.get("GET", "app/ufm_version").contains("ufm_release_version"));
  const std::uint64_t cycles = lab.manager.cycles();
  const Json body = {{"pkey", "0x0020"},
                     {"index0", true},
                     {"ip_over_ib", true},
                     {"membership", "full"},
                     {"guids", lab.guids({0, 1})}};
  EXPECT_EQ(lab.get("POST", "resources/pkeys", body), Json::object());
  // One cycle, and the tables of two ports and of the switch ports before them.
  EXPECT_EQ(lab.manager.cycles(), cycles + 1);
  EXPECT_EQ(lab.manager.last_cycle()->reason, "rest: create 0x20");
  EXPECT_EQ(lab.sets, (std::map<AttributeId, unsigned>{{AttributeId::PKeyTable, 4}}));
  EXPECT_EQ(lab.keys(0), (Keys{0x8020, 0x8011, 0x7fff})) << "index0";
  EXPECT_EQ(lab.ask_path(0, 1, PKey{0x8020}), 0);
  EXPECT_EQ(lab.join(0, PKey{0x8020}), 0) << "its IPoIB group is there";
  // Sent again, the same call costs nothing.
  lab.forget();
  lab.get("POST", "resources/pkeys", body);
  EXPECT_EQ(lab.manager.cycles(), cycles + 1);
  EXPECT_THAT(lab.sets, IsEmpty());
  const Json out = {{"pkey", "0x0020"}, {"guids", lab.guids({0})}};
  lab.get("POST", "actions/remove_guids_from_pkey", out);
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.ask_path(0, 1, PKey{0x8020}), kNoRecords);
  lab.get("POST", "actions/remove_guids_from_pkey", out);
  ASSERT_THAT(lab.control.orders(), SizeIs(1));
  // The partition ends with its last member.
  lab.get("POST", "actions/remove_guids_from_pkey", {{"pkey", "20"}, {"guids", lab.guids({1})}});
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011}));
  lab.get("POST", "actions/remove_guids_from_pkey", {{"pkey", "20"}, {"guids", lab.guids({1})}});
  EXPECT_EQ(lab.calls.stats().refused, 0u);
  EXPECT_EQ(lab.calls.stats().answered, 7u);
}

TEST(UfmCalls, PartitionsAreListedAndShown) {
  Called lab;
  lab.bring_up();
  lab.get("POST",
          "resources/pkeys",
          {{"pkey", "0x20"},
           {"ip_over_ib", true},
           {"memberships", {"full", "limited"}},
           {"guids", lab.guids({0, 1})}});
  EXPECT_EQ(lab.get("GET", "resources/pkeys"), (Json{"0x7fff", "0x11", "0x20"}));
  const Json red = {{"partition", "api_pkey_0x20"},
                    {"ip_over_ib", true},
                    {"membership", "full"},
                    {"guids",
                     {{{"guid", lab.digits(0)}, {"index0", false}, {"membership", "full"}},
                      {{"guid", lab.digits(1)}, {"index0", false}, {"membership", "limited"}}}},
                    {"qos_conf", {{"mtu_limit", 2}, {"service_level", 0}, {"rate_limit", 10.0}}}};
  const Json all = lab.get("GET", "resources/pkeys/?guids_data=true&qos_conf=true");
  EXPECT_THAT(all, SizeIs(3));
  EXPECT_EQ(all.at("0x20"), red);
  EXPECT_FALSE(all.at("0x11").at("ip_over_ib").get<bool>());
  EXPECT_EQ(all.at("0x11").at("guids"), Json::array()) << "ALL is nobody by name";
  for (const char* page : {"resources/pkeys/0x20?guids_data=true&qos_conf=true",
                           "resources/pkeys/0x8020?qos_conf=true&guids_data=True",
                           "resources/pkeys/20?guids_data=true&qos_conf=true"})
    EXPECT_EQ(lab.get("GET", page), red);
  EXPECT_FALSE(lab.get("GET", "resources/pkeys/0x20").contains("guids"));
  EXPECT_THAT(lab.refuse("GET", "resources/pkeys/0x21", ""), "404 there is no partition 0x21");
}

TEST(UfmCalls, WhatStandsFirstInATableIsSaid) {
  Called lab("Site=0x11, indx0: ALL=full, 0x0001000000000003=full;");
  lab.bring_up();
  const Json site = lab.get("GET", "resources/pkeys/0x11?guids_data=true");
  ASSERT_THAT(site.at("guids"), SizeIs(1));
  EXPECT_TRUE(site.at("guids").at(0).at("index0").get<bool>());
}

TEST(UfmCalls, MembersAreReplacedInOneCycle) {
  Called lab;
  lab.bring_up();
  lab.get("PUT", "resources/pkeys", {{"pkey", "0x20"}, {"guids", lab.guids({0, 1})}});
  const std::uint64_t cycles = lab.manager.cycles();
  lab.get("PUT", "resources/pkeys", {{"pkey", "0x20"}, {"guids", lab.guids({1, 2})}});
  EXPECT_EQ(lab.manager.cycles(), cycles + 1);
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011, 0x8020}));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011, 0x8020}));
  lab.get("PUT",
          "resources/pkeys",
          {{"pkey", "0x20"}, {"membership", "limited"}, {"guids", lab.guids({1, 2})}});
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011, 0x0020}));
  lab.get("PUT", "resources/pkeys", {{"pkey", "0x20"}, {"guids", Json::array()}});
  EXPECT_THAT(lab.control.orders(), IsEmpty());
}

TEST(UfmCalls, PartitionsAreCreatedEmptyAndDeleted) {
  Called lab;
  lab.bring_up();
  const Json red = {{"pkey", "0x20"}, {"ip_over_ib", false}, {"partition_name", "Red"}};
  lab.get("POST", "resources/pkeys/add", red);
  lab.get("POST", "resources/pkeys/add", red);
  ASSERT_THAT(lab.control.orders(), SizeIs(1));
  EXPECT_EQ(lab.control.orders().front().name, "Red");
  EXPECT_FALSE(lab.control.orders().front().ipoib);
  EXPECT_THAT(lab.refuse("POST", "resources/pkeys/add", R"({"pkey":"0x20"})"),
              HasSubstr("409 0x0020 is 'Red' already"));
  lab.get("POST", "resources/pkeys", {{"pkey", "0x20"}, {"guids", lab.guids({0, 1, 2})}});
  lab.get("DELETE", "resources/pkeys/0x20/guids/" + lab.digits(0) + "," + lab.digits(1));
  EXPECT_EQ(lab.keys(1), (Keys{0x7fff, 0x8011}));
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011, 0x8020}));
  lab.get("DELETE", "resources/pkeys/0x20");
  EXPECT_EQ(lab.keys(2), (Keys{0x7fff, 0x8011}));
  EXPECT_THAT(lab.control.orders(), IsEmpty());
  EXPECT_THAT(lab.refuse("DELETE", "resources/pkeys/0x20", ""), HasSubstr("404 there is no"));
}

TEST(UfmCalls, GroupsGetTheirRateMtuAndLevel) {
  Called lab;
  lab.bring_up();
  lab.get("POST", "resources/pkeys", {{"pkey", "0x20"}, {"guids", lab.guids({0, 1})}});
  lab.get("PUT",
          "resources/pkeys/qos_conf",
          {{"pkey", "0x20"}, {"mtu_limit", 4}, {"service_level", 3}, {"rate_limit", 2.5}});
  const Json qos = {{"mtu_limit", 4}, {"service_level", 3}, {"rate_limit", 2.5}};
  EXPECT_EQ(lab.get("GET", "resources/pkeys/0x20?qos_conf=true").at("qos_conf"), qos);
  const auto& groups = lab.manager.multicast().groups().groups();
  const auto group = groups.find(ipoib_broadcast(PKey{0x8020}));
  ASSERT_NE(group, groups.end());
  EXPECT_EQ(group->second.traits.sl, 3);
  EXPECT_EQ(lab.keys(0), (Keys{0x7fff, 0x8011, 0x8020})) << "members stay";
  EXPECT_THAT(lab.refuse("PUT", "resources/pkeys/qos_conf", R"({"pkey":"0x11","mtu_limit":2})"),
              HasSubstr("409 p.conf:1: defines 0x0011"));
  EXPECT_THAT(lab.refuse("PUT", "resources/pkeys/qos_conf", R"({"pkey":"0x33","mtu_limit":2})"),
              HasSubstr("404 there is no partition 0x33"));
  for (const char* bad : {R"({"pkey":"0x20","mtu_limit":3})",
                          R"({"pkey":"0x20","service_level":16})",
                          R"({"pkey":"0x20","service_level":-1})",
                          R"({"pkey":"0x20","rate_limit":11})",
                          R"({"pkey":"0x20","rate_limit":1e300})",
                          R"({"pkey":"0x20","rate_limit":"10"})"})
    EXPECT_THAT(lab.refuse("PUT", "resources/pkeys/qos_conf", bad), HasSubstr("400 '")) << bad;
}

TEST(UfmCalls, PortsAreListed) {
  Called lab;
  lab.bring_up();
  const Json ports = lab.get("GET", "resources/ports?sys_type=Computer");
  ASSERT_THAT(ports, SizeIs(4));
  const auto row = std::ranges::find_if(
      ports, [&](const Json& each) { return each.at("guid") == lab.digits(0); });
  ASSERT_NE(row, ports.end());
  EXPECT_EQ(row->at("name"), lab.digits(0) + "_1");
  EXPECT_EQ(row->at("physical_state"), "Link Up");
  EXPECT_EQ(row->at("logical_state"), "Active");
  EXPECT_GT(row->at("lid").get<unsigned>(), 0u);
  for (const char* key : {"systemID", "dname", "system_name"}) EXPECT_TRUE(row->contains(key));
  EXPECT_THAT(lab.get("GET", "resources/ports?sys_type=Switch"), Not(IsEmpty()));
  EXPECT_GT(lab.get("GET", "resources/ports").size(), 4u);
  EXPECT_THAT(lab.refuse("GET", "resources/ports?sys_type=Gateway", ""), HasSubstr("400 sys_type"));
}

TEST(UfmCalls, KeysAreShownWhereAnOptionSaysSo) {
  for (const bool show : {false, true}) {
    Called lab("", show);
    Settings settings = lab.manager.settings();
    settings.sa_key = SmKey{0x1234};
    settings.election.sm_key = SmKey{0x5678};
    settings.ports.m_key = settings.election.m_key = MKey{0x9abc};
    lab.manager.adopt(settings);
    lab.bring_up();
    const Json conf = lab.get("GET", "app/smconf");
    EXPECT_EQ(conf.at("sa_key"), show ? "0x0000000000001234" : "set");
    EXPECT_EQ(conf.at("sm_key"), show ? "0x0000000000005678" : "set");
    EXPECT_EQ(conf.at("m_key"), show ? "0x0000000000009abc" : "set");
    EXPECT_EQ(conf.at("subnet_prefix"), "0xfe80000000000000");
    EXPECT_FALSE(conf.at("m_key_per_port").get<bool>());
  }
}

TEST(UfmCalls, KeysThatThereAreNotAreZero) {
  Called lab;
  lab.bring_up();
  const Json conf = lab.get("GET", "app/smconf");
  for (const char* key : {"m_key", "sm_key", "sa_key"})
    EXPECT_EQ(conf.at(key), "0x0000000000000000") << key;
}

TEST(UfmCalls, KeysOfSinglePortsAreNotOne) {
  Called lab;
  Settings settings = lab.manager.settings();
  settings.m_keys = {{.seed = std::string(16, 'a'), .key = {}}};
  settings.ports.m_key = settings.election.m_key = name_of(settings.m_keys.front());
  lab.manager.adopt(settings);
  lab.bring_up();
  const Json conf = lab.get("GET", "app/smconf");
  EXPECT_TRUE(conf.at("m_key_per_port").get<bool>());
  EXPECT_EQ(conf.at("m_key"), "0x0000000000000000");
}

// What is refused.

TEST(UfmCalls, AnOrderIsAnsweredWhenItIsKeptAndWhatChangesNothingWithIt) {
  Called lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  std::vector<unsigned> got;
  const auto post = [&](const char* page, const Json& body) {
    lab.calls.answer({.method = "POST",
                      .target = std::string("/ufmRest/") + page,
                      .authorization = "Bearer " + kToken,
                      .body = body.dump()},
                     [&got](const HttpAnswer& answer) { got.push_back(answer.status); });
  };
  const Json red{{"pkey", "0x20"}, {"guids", lab.guids({0})}};
  post("resources/pkeys", red);
  post("resources/pkeys", red);
  post("actions/remove_guids_from_pkey", {{"pkey", "0x20"}, {"guids", lab.guids({1})}});
  EXPECT_THAT(got, IsEmpty());
  EXPECT_EQ(lab.calls.stats().answered, 0u);
  lab.end_writes({});
  EXPECT_THAT(got, ElementsAre(200u, 200u, 200u));
  ASSERT_TRUE(lab.settle());
  EXPECT_EQ(lab.keys(0).back(), 0x8020u);
  got.clear();
  post("resources/pkeys", {{"pkey", "0x30"}, {"guids", lab.guids({0})}});
  lab.end_writes(fail(Errc::Busy, "the disk sleeps"));
  post("resources/pkeys", {{"pkey", "0x30"}, {"guids", lab.guids({0})}});
  lab.end_writes(fail(Errc::Io, "the disk is full"));
  EXPECT_THAT(got, ElementsAre(503u, 500u));
  EXPECT_EQ(lab.calls.stats().refused, 2u);
  EXPECT_THAT(lab.control.orders(), SizeIs(1)) << "Red";
}

TEST(UfmCalls, OrdersGoOnTopOfThoseThatWaitForTheDisk) {
  Called lab;
  lab.bring_up();
  lab.is_disk_slow = true;
  std::vector<unsigned> got;
  const auto call = [&](const char* method, const char* page, const Json& body) {
    lab.calls.answer({.method = method,
                      .target = std::string("/ufmRest/resources/pkeys") + page,
                      .authorization = "Bearer " + kToken,
                      .body = body.dump()},
                     [&got](const HttpAnswer& answer) { got.push_back(answer.status); });
  };
  call("PUT", "", {{"pkey", "0x20"}, {"guids", lab.guids({0})}});
  call("PUT", "", {{"pkey", "0x20"}, {"guids", lab.guids({1})}});
  call("PUT", "", {{"pkey", "0x20"}, {"guids", lab.guids({1})}});
  call("POST", "/add", {{"pkey", "0x30"}});
  call("POST", "/add", {{"pkey", "0x30"}});
  lab.end_writes({});
  EXPECT_THAT(got, ElementsAre(200u, 200u, 200u, 200u, 200u));
  ASSERT_TRUE(lab.settle());
  ASSERT_THAT(lab.control.orders(), SizeIs(2));
  EXPECT_THAT(lab.control.orders().front().members, SizeIs(1)) << "who was set last";
  EXPECT_EQ(lab.keys(1).back(), 0x8020u);
}

TEST(UfmCalls, WhoeverShowsNoTokenLearnsAndChangesNothing) {
  Called lab;
  lab.bring_up();
  const std::string body = Json{{"pkey", "0x20"}, {"guids", lab.guids({0})}}.dump();
  for (const char* shown : {"", "Bearer ", "Bearer 0123456789abcdef", "Basic YWRtaW46MTIzNDU2"}) {
    for (const char* page :
         {"/ufmRest/resources/pkeys", "/ufmRestV3/app/smconf", "/", "/metrics"}) {
      const HttpAnswer got = answer_of(
          lab.calls, {.method = "POST", .target = page, .authorization = shown, .body = body});
      EXPECT_EQ(got.status, 401u) << page;
      EXPECT_EQ(*got.body, R"({"error":"no token of rest.token_file"})");
      EXPECT_THAT(got.more, HasSubstr("WWW-Authenticate: "));
    }
  }
  EXPECT_EQ(lab.calls.stats().unauthorized, 16u);
  EXPECT_EQ(lab.calls.stats().answered + lab.calls.stats().refused, 0u);
  EXPECT_THAT(lab.control.orders(), IsEmpty());
}

TEST(UfmCalls, WhatIsNoCallIsSaid) {
  Called lab;
  lab.bring_up();
  EXPECT_THAT(lab.refuse("GET", "resources/systems", ""), HasSubstr("404 no such page"));
  EXPECT_THAT(lab.refuse("DELETE", "resources/pkeys", ""), HasSubstr("405 "));
  EXPECT_THAT(lab.refuse("POST", "app/smconf", "{}"), HasSubstr("405 "));
  EXPECT_EQ(
      answer_of(
          lab.calls,
          {.method = "GET", .target = "/metrics", .authorization = "Bearer " + kToken, .body = ""})
          .status,
      404u);
  const auto add = [&](const std::string& body) {
    return lab.refuse("POST", "resources/pkeys", body);
  };
  const std::string guid = lab.digits(0);
  for (const std::string& bad : {std::string(),
                                 std::string("{"),
                                 std::string("[]"),
                                 std::string("\x00\xff", 2),
                                 std::string(100, '['),
                                 std::string("{\"a\":") + std::string(100, '{')})
    EXPECT_THAT(add(bad), HasSubstr("400 the body "));
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[],"guid":1})"), HasSubstr("400 'guid' is none of"));
  EXPECT_THAT(add(R"({"guids":[]})"), HasSubstr("400 'pkey' is missing"));
  EXPECT_THAT(add(R"({"pkey":32,"guids":[]})"), HasSubstr("400 'pkey' is missing, or no text"));
  for (const char* key : {"", "0x", "0", "0x8000", "0x12345", "red", "-1", "0x20 "})
    EXPECT_THAT(add(fmt::format(R"({{"pkey":"{}","guids":[]}})", key)), HasSubstr("is no P_Key"))
        << key;
  EXPECT_THAT(add(R"({"pkey":"0x20"})"), HasSubstr("400 'guids' is missing"));
  for (const char* bad : {"", "0x", "0", "ffffffffffffffff", "12345678901234567", "host-00000"})
    EXPECT_THAT(add(fmt::format(R"({{"pkey":"0x20","guids":["{}"]}})", bad)), HasSubstr("GUID"))
        << bad;
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[7]})"), HasSubstr("400 'guids' is no list"));
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[],"membership":"f"})"), HasSubstr("400 a membership"));
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[],"memberships":["full"]})"),
              HasSubstr("400 'memberships'"));
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[],"index0":"yes"})"), HasSubstr("400 'index0'"));
  EXPECT_THAT(add(R"({"pkey":"0x20","guids":[],"partition_name":"a b"})"),
              HasSubstr("409 'a b' is no name"));
  EXPECT_THAT(add(fmt::format(R"({{"pkey":"0x20","guids":["{0}","{0}"]}})", guid)),
              HasSubstr("409 0x" + guid + " is named twice"));
}

TEST(UfmCalls, AnyBytesAreAnsweredAndOnlyWhatIsTakenChangesAnything) {
  Called lab;
  lab.bring_up();
  const std::string bodies[] = {
      Json{{"pkey", "0x20"}, {"guids", lab.guids({0, 1})}, {"membership", "full"}}.dump(),
      R"({"pkey":"0x20","mtu_limit":4,"service_level":3,"rate_limit":2.5})",
      R"({"pkey":"0x20","partition_name":"Red","ip_over_ib":true,"index0":false})"};
  const std::pair<const char*, const char*> calls[] = {{"POST", "resources/pkeys"},
                                                       {"PUT", "resources/pkeys"},
                                                       {"POST", "resources/pkeys/add"},
                                                       {"PUT", "resources/pkeys/qos_conf"},
                                                       {"POST", "actions/remove_guids_from_pkey"},
                                                       {"DELETE", "resources/pkeys/0x20"},
                                                       {"GET", "resources/pkeys/0x20"}};
  Rng rng(7);
  const auto spoil = [&rng](std::string text) {
    for (std::uint64_t n = rng.below(4); n > 0 && !text.empty(); --n) {
      const std::size_t at = rng.below(text.size());
      if (rng.below(2) == 0)
        text[at] = static_cast<char>(rng.below(256));
      else
        text.erase(at, rng.below(8));
    }
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const auto& [method, page] = calls[rng.below(std::size(calls))];
    const PartitionOrders before = lab.control.orders();
    const HttpAnswer got = lab.call(method,
                                    rng.below(4) == 0 ? spoil(page) : page,
                                    spoil(bodies[rng.below(std::size(bodies))]));
    ASSERT_TRUE(Json::accept(*got.body)) << *got.body;
    ASSERT_TRUE(got.status == 200 || lab.control.orders() == before) << *got.body;
  }
  EXPECT_GT(lab.calls.stats().answered, 100u);
  EXPECT_GT(lab.calls.stats().refused, 1000u);
  EXPECT_TRUE(lab.settle());
}

TEST(UfmCalls, TheFileIsNotContradicted) {
  Called lab("Site=0x11: ALL=full;\nBlue=0x12: 0x0001000000000003=full;\n");
  lab.bring_up();
  EXPECT_THAT(lab.refuse("DELETE", "resources/pkeys/0x11", ""), HasSubstr("409 p.conf:1: defines"));
  EXPECT_THAT(lab.refuse("DELETE", "resources/pkeys/0x7fff", ""), HasSubstr("409 the default"));
  const std::string named = R"({"pkey":"0x12","guids":["0001000000000003"]})";
  EXPECT_THAT(lab.refuse("POST", "actions/remove_guids_from_pkey", named),
              HasSubstr("409 p.conf:2: 0x0001000000000003 is a member of 'Blue'; take it out"));
  EXPECT_THAT(lab.refuse("PUT",
                         "resources/pkeys",
                         fmt::format(R"({{"pkey":"0x12","guids":["{}"]}})", lab.digits(1))),
              HasSubstr("409 p.conf:2: "))
      << "of the two orders the first is not taken, and so neither is";
  EXPECT_THAT(lab.refuse("POST",
                         "resources/pkeys",
                         R"({"pkey":"0x12","membership":"limited","guids":["1000000000003"]})"),
              HasSubstr("409 p.conf:2: "));
}

TEST(UfmCalls, BeforeTheSubnetIsUpNothingIsOrdered) {
  Called lab;
  EXPECT_THAT(lab.refuse("POST", "resources/pkeys", R"({"pkey":"0x20","guids":[]})"),
              HasSubstr("503 the subnet is not up yet"));
  EXPECT_THAT(lab.refuse("DELETE", "resources/pkeys/0x11", ""), HasSubstr("503 "));
  EXPECT_THAT(lab.refuse("GET", "resources/ports", ""), HasSubstr("503 "));
  EXPECT_THAT(lab.get("GET", "resources/pkeys"), SizeIs(2)) << "what the file says is known";
}

}  // namespace
}  // namespace smd::test
