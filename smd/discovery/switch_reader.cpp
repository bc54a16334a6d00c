#include "smd/discovery/switch_reader.h"

#include <algorithm>
#include <utility>

#include "smd/discovery/explorer.h"
#include "smd/mad/node_info.h"

namespace smd {

SwitchReader::SwitchReader(SmpClient& client, Wish wish) : scope_(client), wish_(std::move(wish)) {}

void SwitchReader::start(Done done) {
  done_ = std::move(done);
  outstanding_ = wish_.identity ? 2 : 1;
  if (wish_.identity) {
    send(Method::Get, AttributeId::NodeInfo, 0, {}, [this](const SmpReply& reply) {
      on_node_info(reply);
    });
  }
  send(Method::Get, AttributeId::SwitchInfo, 0, {}, [this](const SmpReply& reply) {
    on_switch_info(reply);
  });
}

void SwitchReader::send(Method method,
                        AttributeId attribute,
                        std::uint32_t modifier,
                        const SmpData& data,
                        std::function<void(const SmpReply&)> on_answer) {
  scope_.send({.route = wish_.route,
               .method = method,
               .attribute = attribute,
               .modifier = modifier,
               .data = data,
               .m_key = wish_.m_key},
              [this, on_answer = std::move(on_answer)](const Result<SmpReply>& reply) {
                if (!reply) return give_up(reply.error());
                if (reply->status != 0) return give_up({Errc::Refused, describe(reply)});
                on_answer(*reply);
              });
}

void SwitchReader::give_up(Error error) {
  scope_.cancel_all();
  std::exchange(done_, nullptr)(tl::unexpected<Error>(std::move(error)));
}

void SwitchReader::on_node_info(const SmpReply& reply) {
  const Result<NodeInfo> info = decode_node_info(reply.data);
  if (!info) return give_up(info.error());
  if (*wish_.identity != Identity{info->node_guid, info->local_port}) {
    reading_.stranger = true;
    return finish();
  }
  if (--outstanding_ == 0) proceed();
}

void SwitchReader::on_switch_info(const SmpReply& reply) {
  const Result<SwitchInfo> info = decode_switch_info(reply.data);
  if (!info) return give_up(info.error());
  reading_.info = *info;
  if (--outstanding_ == 0) proceed();
}

void SwitchReader::proceed() {
  const SwitchInfo& info = reading_.info;
  reading_.restarted = wish_.had_tables && !has_no_lft() && info.linear_fdb_top == 0;
  if (reading_.restarted) return finish();
  reading_.raised = info.port_state_change || wish_.cleared_before;
  if (info.port_state_change) return clear();
  ask_ports();
}

void SwitchReader::clear() {
  send(Method::Set,
       AttributeId::SwitchInfo,
       0,
       clear_change_data(reading_.info),
       [this](const SmpReply&) {
         reading_.info.port_state_change = false;
         ask_ports();
       });
}

void SwitchReader::ask_ports() {
  std::vector<PortNum> ports = wish_.anyway;
  // A switch without linear tables shows by its LID alone that it has restarted.
  if (!wish_.literal && reading_.info.linear_fdb_top == 0) ports.push_back(PortNum{0});
  if (reading_.raised) {
    for (unsigned p = 1; p <= wish_.num_ports; ++p) {
      ports.push_back(PortNum{static_cast<std::uint8_t>(p)});
    }
  }
  std::ranges::sort(ports);
  const auto again = std::ranges::unique(ports);
  ports.erase(again.begin(), again.end());
  if (ports.empty()) return finish();
  outstanding_ = ports.size();
  for (const PortNum port : ports) ask_port(port);
}

void SwitchReader::ask_port(PortNum port) {
  scope_.send({.route = wish_.route,
               .attribute = AttributeId::PortInfo,
               .modifier = port.value(),
               .m_key = wish_.m_key},
              [this, port](const Result<SmpReply>& reply) { on_port(port, reply); });
}

void SwitchReader::on_port(PortNum port, const Result<SmpReply>& reply) {
  if (!reply) return give_up(reply.error());
  PortReading reading{.port = port};
  if (reply->status != 0) {
    reading.why = "PortInfo: " + describe(reply);
  } else {
    const auto info = decode_port_info(reply->data);
    if (!info) return give_up(info.error());
    reading.info = *info;
  }
  reading_.ports.push_back(std::move(reading));
  if (--outstanding_ == 0) finish();
}

void SwitchReader::finish() {
  scope_.cancel_all();
  std::ranges::sort(reading_.ports, {}, &PortReading::port);
  if (wish_.had_tables && has_no_lft() && !reading_.ports.empty()) {
    const PortReading& own = reading_.ports.front();
    reading_.restarted = own.port == PortNum{0} && own.info && own.info->lid == kUnassignedLid;
  }
  std::exchange(done_, nullptr)(std::move(reading_));
}

}  // namespace smd
