// The service with what clients leave there.
#pragma once

#include "smd/sa/inform_manager.h"
#include "smd/sa/service_manager.h"
#include "tests/unit/sa/served.h"

namespace smd::sa {

struct KeptBench : ServerBench {
  explicit KeptBench(InformLimits limits = {}, ServiceLimits service_limits = {})
      : inform(
            runtime,
            [this](const MadPacket& packet) { return server.send_request(packet); },
            [this] { ++changes; },
            limits),
        services(
            runtime, [this] { ++changes; }, service_limits) {
    server.add_manager(inform);
    server.add_manager(services);
    server.on_answer([this](const MadPacket& packet) { inform.on_answer(packet); });
    inform.adopt(view);
  }

  void adopt(std::shared_ptr<const SubnetView> next) {
    view = std::move(next);
    server.adopt(view);
    inform.adopt(view);
  }

  [[nodiscard]] Lid lid(std::string_view name) const { return lid_of(*view, name); }

  /// The status of the answer to `asked` from `host`; what else was sent is dropped.
  std::uint16_t status_of(const Asked& asked, std::string_view host) {
    answer(asked, host);
    return answered.mad.status;
  }

  void answer(const Asked& asked, std::string_view host) {
    transport.sent.clear();
    give(asked, lid(host), ++transaction);
    run();
    for (const MadPacket& packet : transport.sent) {
      const SaHeader header = *decode_sa_header(packet.mad);
      if (header.mad.transaction_id != transaction) continue;
      answered = header;
      std::ranges::copy(std::span(packet.mad).subspan(kHeaderSize), body.begin());
    }
    transport.sent.clear();
  }

  [[nodiscard]] std::vector<MadPacket> reports() const {
    std::vector<MadPacket> out;
    for (const MadPacket& packet : transport.sent) {
      if (decode_sa_header(packet.mad)->mad.method == 0x06) out.push_back(packet);
    }
    return out;
  }

  /// What a host says to a Report.
  void confirm(const MadPacket& report, std::uint16_t status = 0) {
    MadPacket back = report;
    SaHeader header = *decode_sa_header(report.mad);
    header.mad.method = 0x86;
    header.mad.status = status;
    encode_sa_header(header, back.mad);
    transport.deliver(back);
    run();
  }

  InformManager inform;
  ServiceManager services;
  int changes = 0;
  std::uint64_t transaction = 1000;
  SaHeader answered;
  std::array<std::byte, kDataSize> body{};
};

inline Asked subscribe(const InformInfo& info) {
  return ask(Method::Set, RecordId::InformInfo, 0, info, kInformInfoSize);
}

inline Asked trusted(Asked asked) {
  asked.header.sm_key = kTrusted;
  return asked;
}

/// Everybody is in the default partition, but for these hosts, who are in partition 7 alone.
inline std::shared_ptr<const SubnetView> with_others(
    std::initializer_list<std::string_view> hosts) {
  ViewParts parts = parts_of("H1-S1 H2-S1 S1-S2 H3-S2");
  auto plan = std::make_shared<PartitionPlan>();
  plan->map = PartitionMap(parts.fabric->port_count(), PortKeys{.keys = {kDefaultPKey}});
  for (const std::string_view host : hosts)
    plan->map[test::end_port(*parts.fabric, host)].keys = {PKey{0x8007}};
  parts.partitions = std::move(plan);
  return std::make_shared<const SubnetView>(std::move(parts));
}

}  // namespace smd::sa
