#include <gmock/gmock.h>

#include <cerrno>

#include "smd/transport/umad_ports.h"

namespace smd {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

UmadPort port(const char* device, int number, PortState state, bool infiniband = true) {
  return {device,
          PortNum{static_cast<std::uint8_t>(number)},
          Guid{0x100u + static_cast<unsigned>(number) +
               (std::string_view(device).ends_with("_1") ? 0x10u : 0u)},
          state,
          infiniband};
}

UmadPort without_managers(UmadPort port) {
  port.sm_disabled = true;
  return port;
}

struct Row {
  const char* name;
  std::vector<UmadPort> ports;
  UmadSelection wish;
  const char* device;  // nullptr: none fits
  int port;
  const char* complaint = "";
};

class SelectPort : public ::testing::TestWithParam<Row> {};

TEST_P(SelectPort, Chooses) {
  const Row& row = GetParam();
  const Result<UmadPorts> chosen = select_ports(row.ports, {}, row.wish);
  if (row.device != nullptr) {
    ASSERT_TRUE(chosen) << chosen.error().context;
    EXPECT_EQ(chosen->smi.device, row.device);
    EXPECT_EQ(chosen->smi.port.value(), row.port);
    EXPECT_EQ(chosen->gsi, chosen->smi);
  } else {
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, Errc::NoDevice);
    EXPECT_THAT(chosen.error().context, HasSubstr(row.complaint));
    if (!row.ports.empty()) {
      EXPECT_THAT(chosen.error().context, HasSubstr("; there are: mlx5_0 port 1 ("));
    }
  }
}

constexpr auto kDown = PortState::Down;
constexpr auto kInit = PortState::Initialize;
constexpr auto kArmed = PortState::Armed;
constexpr auto kActive = PortState::Active;

INSTANTIATE_TEST_SUITE_P(
    Rows,
    SelectPort,
    ::testing::Values(
        Row{"TheOnlyOne", {port("mlx5_0", 1, kInit)}, {}, "mlx5_0", 1},
        Row{"APortWithoutManagersIsPassedOver",
            {without_managers(port("mlx5_0", 1, kActive)), port("mlx5_0", 2, kInit)},
            {},
            "mlx5_0",
            2},
        Row{"APortWithoutManagersIsTakenByItsNumber",
            {without_managers(port("mlx5_0", 1, kActive)), port("mlx5_0", 2, kActive)},
            {.port = PortNum{1}},
            "mlx5_0",
            1},
        Row{"WhereNoneLetsAManagerRun",
            {without_managers(port("mlx5_0", 1, kActive))},
            {},
            nullptr,
            0,
            "lets a subnet manager run there"},
        Row{"ActiveBeforeInitialize",
            {port("mlx5_0", 1, kInit), port("mlx5_0", 2, kActive)},
            {},
            "mlx5_0",
            2},
        Row{"TheFirstOfEquals",
            {port("mlx5_0", 1, kDown), port("mlx5_0", 2, kArmed), port("mlx5_1", 1, kInit)},
            {},
            "mlx5_0",
            2},
        Row{"EthernetIsSkipped",
            {port("mlx5_0", 1, kActive, false), port("mlx5_1", 1, kInit)},
            {},
            "mlx5_1",
            1},
        Row{"ByDevice",
            {port("mlx5_0", 1, kActive), port("mlx5_1", 1, kInit)},
            {.device = "mlx5_1"},
            "mlx5_1",
            1},
        Row{"ByPortNumberEvenWhenDown",
            {port("mlx5_0", 1, kActive), port("mlx5_0", 2, kDown)},
            {.device = "mlx5_0", .port = PortNum{2}},
            "mlx5_0",
            2},
        Row{"ByGuid",
            {port("mlx5_0", 1, kActive), port("mlx5_1", 1, kDown)},
            {.port_guid = Guid{0x111}},
            "mlx5_1",
            1},
        Row{"NoDevices", {}, {}, nullptr, 0, "no InfiniBand device on this machine"},
        Row{"UnknownDevice",
            {port("mlx5_0", 1, kActive)},
            {.device = "mlx4_0"},
            nullptr,
            0,
            "no InfiniBand device 'mlx4_0'"},
        Row{"UnknownPort",
            {port("mlx5_0", 1, kActive)},
            {.device = "mlx5_0", .port = PortNum{2}},
            nullptr,
            0,
            "no InfiniBand port 2 of 'mlx5_0'"},
        Row{"UnknownGuid",
            {port("mlx5_0", 1, kActive)},
            {.port_guid = Guid{0x999}},
            nullptr,
            0,
            "no InfiniBand port with GUID 0x0000000000000999"},
        Row{"GuidOnAnotherDevice",
            {port("mlx5_0", 1, kActive), port("mlx5_1", 1, kActive)},
            {.device = "mlx5_0", .port_guid = Guid{0x111}},
            nullptr,
            0,
            "no InfiniBand port with GUID 0x0000000000000111 of 'mlx5_0'"},
        Row{"NoneIsUp", {port("mlx5_0", 1, kDown)}, {}, nullptr, 0, "no InfiniBand port is up"},
        Row{"OnlyEthernet",
            {port("mlx5_0", 1, kActive, false)},
            {.device = "mlx5_0"},
            nullptr,
            0,
            "is Ethernet, not InfiniBand"}),
    [](const auto& row) { return row.param.name; });

// An XDR adapter: a SMI whose ports are the planes, and a GSI that carries their GUID.
std::vector<UmadPort> xdr(PortState first, PortState second) {
  std::vector<UmadPort> ports{without_managers(port("mlx5_0", 1, kActive)),
                              port("smi1", 1, first),
                              port("smi1", 2, second),
                              port("mlx5_1", 1, kActive)};
  ports[1].port_guid = ports[2].port_guid = ports[0].port_guid;
  return ports;
}

struct PairRow {
  const char* name;
  std::vector<UmadPort> ports;
  std::vector<UmadPair> pairs;
  UmadSelection wish;
  std::string smi;  // "device port"
  std::string gsi;
};

class SelectPair : public ::testing::TestWithParam<PairRow> {};

TEST_P(SelectPair, Chooses) {
  const auto where = [](const UmadPort& port) {
    return port.device + " " + std::to_string(port.port.value());
  };
  const Result<UmadPorts> chosen =
      select_ports(GetParam().ports, GetParam().pairs, GetParam().wish);
  ASSERT_TRUE(chosen) << chosen.error().context;
  EXPECT_EQ(where(chosen->smi), GetParam().smi);
  EXPECT_EQ(where(chosen->gsi), GetParam().gsi);
  EXPECT_EQ(chosen->split(), GetParam().smi != GetParam().gsi);
}

const std::vector<UmadPair> kLibrary{{.smi = "mlx5_1", .gsi = "mlx5_1", .gsi_port = PortNum{1}},
                                     {.smi = "smi1", .gsi = "mlx5_0", .gsi_port = PortNum{1}}};

std::vector<UmadPort> other_guids() {
  std::vector<UmadPort> ports = xdr(kActive, kActive);
  ports[0].port_guid = Guid{0x77};
  ports[0].sm_disabled = false;
  return ports;
}

INSTANTIATE_TEST_SUITE_P(
    Rows,
    SelectPair,
    ::testing::Values(
        PairRow{"ByGuid", xdr(kActive, kActive), {}, {}, "smi1 1", "mlx5_0 1"},
        PairRow{"ThePlaneThatIsUp", xdr(kDown, kActive), {}, {}, "smi1 2", "mlx5_0 1"},
        PairRow{"TheGsiNamesThePair",
                xdr(kDown, kActive),
                {},
                {.device = "mlx5_0", .port = PortNum{1}},
                "smi1 2",
                "mlx5_0 1"},
        PairRow{
            "ByItsGuid", xdr(kActive, kDown), {}, {.port_guid = Guid{0x101}}, "smi1 1", "mlx5_0 1"},
        PairRow{"APlaneByNumber",
                xdr(kActive, kDown),
                {},
                {.device = "smi1", .port = PortNum{2}},
                "smi1 2",
                "mlx5_0 1"},
        PairRow{"AnotherAdapterIsWhole",
                xdr(kActive, kActive),
                {},
                {.device = "mlx5_1"},
                "mlx5_1 1",
                "mlx5_1 1"},
        PairRow{"ByTheLibrary", other_guids(), kLibrary, {}, "smi1 1", "mlx5_0 1"},
        PairRow{"TheLibrarySaysNothingOfIt",
                other_guids(),
                {kLibrary.front()},
                {},
                "mlx5_0 1",
                "mlx5_0 1"}),
    [](const auto& row) { return row.param.name; });

TEST(SelectPorts, WhereNoPlaneIsUpSaysSo) {
  const auto chosen = select_ports(xdr(kDown, kDown), {}, {.device = "mlx5_0"});
  ASSERT_FALSE(chosen);
  EXPECT_THAT(chosen.error().context,
              HasSubstr("no InfiniBand port of 'smi1' is up; there are: mlx5_0 port 1 (Active, "
                        "IsSMdisabled), smi1 port 1 (Down)"));
}

LocalPort local(const UmadPort& port) { return {port.device, port.port, port.port_guid}; }

TEST(ChosenPort, IsTheOneThatWasOpenedFirstWhateverElseIsUp) {
  std::vector<UmadPort> ports{port("mlx5_0", 1, kActive), port("mlx5_1", 1, kInit)};
  ChosenPort kept;
  const auto open = [&](const UmadSelection& configured) {
    const auto chosen = select_ports(ports, {}, kept.select(configured));
    if (chosen) kept.note(configured, local(chosen->smi));
    return chosen;
  };
  for (const UmadSelection& configured :
       {UmadSelection{}, UmadSelection{.port = PortNum{1}}, UmadSelection{}}) {
    ports[0].state = kActive;
    ASSERT_EQ(open(configured)->smi.device, "mlx5_0");
    ports[0].state = kDown;
    EXPECT_EQ(open(configured)->smi.device, "mlx5_0") << "in whatever state it is";
    const UmadPort gone = ports.front();
    ports.erase(ports.begin());
    EXPECT_FALSE(open(configured));
    EXPECT_EQ(open(configured).error().code, Errc::NoDevice);
    ports.insert(ports.begin(), gone);
    EXPECT_EQ(open(configured)->smi.device, "mlx5_0");
  }
  EXPECT_EQ(open({.device = "mlx5_1"})->smi.device, "mlx5_1") << "another one is configured";
}

/// As firmware may give it: smd cannot tell that from another adapter.
TEST(ChosenPort, SaysThatItsGuidIsAnother) {
  std::vector<UmadPort> ports{port("mlx5_0", 1, kActive), port("mlx5_1", 1, kActive)};
  ChosenPort kept;
  EXPECT_EQ(kept.print_changed_guid({}, ports), "") << "none was opened";
  kept.note({}, local(ports[0]));
  EXPECT_EQ(kept.print_changed_guid({}, ports), "");
  const Guid before = std::exchange(ports[0].port_guid, Guid{0x999});
  ASSERT_FALSE(select_ports(ports, {}, kept.select({}))) << "it may be of another subnet";
  EXPECT_EQ(kept.print_changed_guid({}, ports),
            fmt::format("mlx5_0 port 1 had that GUID and has {} now: if it is the same port, under "
                        "other firmware or another alias, restart smd",
                        Guid{0x999}));
  const UmadSelection by_guid{.port_guid = before};
  kept.note(by_guid, {"mlx5_0", PortNum{1}, before});
  EXPECT_THAT(kept.print_changed_guid(by_guid, ports), HasSubstr("change transport.port_guid"));
  const UmadSelection by_name{.device = "mlx5_0", .port = PortNum{1}};
  kept.note(by_name, {"mlx5_0", PortNum{1}, before});
  EXPECT_EQ(kept.print_changed_guid(by_name, ports), "") << "that one is taken";
  ports.erase(ports.begin());
  kept.note({}, {"mlx5_0", PortNum{1}, before});
  EXPECT_EQ(kept.print_changed_guid({}, ports), "") << "the whole device is away";
}

/// The adapter may have been replaced.
TEST(ChosenPort, IsNotAskedForWhereOneIsNamed) {
  const UmadSelection by_name{.device = "mlx5_0", .port = PortNum{1}};
  const UmadSelection by_guid{.port_guid = Guid{0x111}};
  for (const UmadSelection& configured : {by_name, by_guid}) {
    ChosenPort kept;
    EXPECT_TRUE(kept.note(configured, {"mlx5_0", PortNum{1}, Guid{0x101}}));
    EXPECT_EQ(kept.select(configured), configured);
    EXPECT_FALSE(kept.note(configured, {"mlx5_0", PortNum{1}, Guid{0x102}}));
  }
}

TEST(CountChoices, CountsWhatIsUpAndNotNamed) {
  const std::vector<UmadPort> ports{port("mlx5_0", 1, kActive),
                                    port("mlx5_0", 2, kDown),
                                    without_managers(port("mlx5_0", 3, kActive)),
                                    port("mlx5_1", 1, kInit),
                                    port("mlx5_1", 2, kActive, false)};
  EXPECT_EQ(count_choices(ports, {}, {}), 2u);
  EXPECT_EQ(count_choices(ports, {}, {.device = "mlx5_0"}), 1u);
  EXPECT_EQ(count_choices(ports, {}, {.port = PortNum{1}}), 1u);
  EXPECT_EQ(count_choices(ports, {}, {.port_guid = Guid{0x101}}), 1u);
  const std::vector<UmadPair> pairs{{.smi = "mlx5_0", .gsi = "mlx5_1", .gsi_port = PortNum{1}}};
  EXPECT_EQ(count_choices(ports, pairs, {}), 1u) << "two of one adapter";
}

TEST(PrintPorts, NamesDeviceNumberStateAndLinkLayer) {
  EXPECT_EQ(print_ports({}), "none");
  const std::vector<UmadPort> ports{port("mlx5_0", 1, kActive), port("mlx5_1", 2, kDown, false)};
  EXPECT_EQ(print_ports(ports), "mlx5_0 port 1 (Active), mlx5_1 port 2 (Down, Ethernet)");
}

struct ErrnoRow {
  UmadStep step;
  int error_number;
  Errc code;
  const char* advice;
};

class UmadErrors : public ::testing::TestWithParam<ErrnoRow> {};

TEST_P(UmadErrors, SayWhatWouldBeRight) {
  const Error error = umad_error(GetParam().step, GetParam().error_number, "mlx5_0 port 1");
  EXPECT_EQ(error.code, GetParam().code);
  EXPECT_THAT(error.context, AllOf(HasSubstr("mlx5_0 port 1: "), HasSubstr(GetParam().advice)));
}

INSTANTIATE_TEST_SUITE_P(
    Table,
    UmadErrors,
    ::testing::Values(
        ErrnoRow{UmadStep::Open, EACCES, Errc::NoPermission, "run as root, or as a member"},
        ErrnoRow{UmadStep::Open, EPERM, Errc::NoPermission, "run as root"},
        ErrnoRow{UmadStep::Open, ENOENT, Errc::NoDevice, "ib_umad"},
        ErrnoRow{UmadStep::Open, ENXIO, Errc::NoDevice, "ib_umad"},
        ErrnoRow{UmadStep::Open, EINVAL, Errc::NoDevice, "ib_umad"},
        ErrnoRow{UmadStep::Open, EBUSY, Errc::Busy, "in use"},
        ErrnoRow{UmadStep::Open, EOPNOTSUPP, Errc::Unsupported, "ib_umad is older"},
        ErrnoRow{UmadStep::Open, EIO, Errc::Io, "Input/output error"},
        ErrnoRow{UmadStep::Register, EINVAL, Errc::Busy, "another subnet manager may be running"},
        ErrnoRow{UmadStep::Register, EBUSY, Errc::Busy, "another subnet manager may be running"},
        ErrnoRow{UmadStep::Register, EPROTONOSUPPORT, Errc::Unsupported, "no QP0"},
        ErrnoRow{UmadStep::Register, EPIPE, Errc::NoDevice, "the device is gone"},
        ErrnoRow{UmadStep::Register, ENOMEM, Errc::Io, "Cannot allocate memory"},
        ErrnoRow{UmadStep::ShowSm, EAGAIN, Errc::Busy, "another subnet manager holds it"},
        ErrnoRow{UmadStep::ShowSm, EACCES, Errc::NoPermission, "issm"},
        ErrnoRow{UmadStep::ShowSm, ENOENT, Errc::NoDevice, "ib_umad"},
        ErrnoRow{UmadStep::Send, EAGAIN, Errc::Busy, "send queue is full"},
        ErrnoRow{UmadStep::Send, ENOMEM, Errc::Busy, "send queue is full"},
        ErrnoRow{UmadStep::Send, ENOBUFS, Errc::Busy, "send queue is full"},
        ErrnoRow{UmadStep::Send, EIO, Errc::NoDevice, "the device is gone"},
        ErrnoRow{UmadStep::Send, ENODEV, Errc::NoDevice, "the device is gone"},
        ErrnoRow{UmadStep::Send, EINVAL, Errc::Io, "Invalid argument"},
        ErrnoRow{UmadStep::Receive, EIO, Errc::NoDevice, "the device is gone"},
        ErrnoRow{UmadStep::Receive, ENODEV, Errc::NoDevice, "the device is gone"}));

}  // namespace
}  // namespace smd
