#include "smd/smp/gmp_client.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace smd {
namespace {

constexpr std::uint32_t kGsiQp = 1;

/// An answer that speaks of something else is none.
bool fits(const MadHeader& answer, const MadPacket& from, const MadPacket& request) {
  const MadHeader asked = *decode_mad_header(request.mad);
  return from.remote_lid == request.remote_lid && answer.mgmt_class == asked.mgmt_class &&
         answer.attribute_id == asked.attribute_id &&
         answer.attribute_modifier == asked.attribute_modifier;
}

}  // namespace

GmpClient::GmpClient(Runtime& runtime, Transport& transport)
    : runtime_(runtime), transport_(transport) {
  transport_.set_handlers([this](const MadPacket& packet) { receive(packet); },
                          [](const Error&) {});
}

void GmpClient::configure(const GmpClientConfig& config) {
  config_ = config;
  // The port is shared with SMPs, which go first.
  config_.window = std::clamp(config.window, 1u, std::max(1u, transport_.most_outstanding() / 4));
}

void GmpClient::send(const MadPacket& packet, Done done) {
  Pending& added = waiting_.emplace_back();
  added.packet = packet;
  added.packet.local_qp = added.packet.remote_qp = kGsiQp;
  added.done = std::move(done);
  added.retries_left = config_.retries;
  pump_ = Timer(runtime_, runtime_.now(), [this] { pump(); });
}

void GmpClient::send_once(const MadPacket& packet) {
  MadPacket out = packet;
  out.local_qp = out.remote_qp = kGsiQp;
  if (transport_.send(out)) ++stats_.sent;
}

void GmpClient::stop() {
  waiting_.clear();
  pending_.clear();
  pump_.reset();
}

void GmpClient::pump() {
  while (!waiting_.empty() && pending_.size() < config_.window) {
    const std::uint32_t id = next_id_++;
    pending_.emplace(id, std::move(waiting_.front()));
    waiting_.pop_front();
    inject(id);
  }
}

void GmpClient::inject(std::uint32_t id) {
  Pending& request = pending_.at(id);
  MadHeader header = *decode_mad_header(request.packet.mad);
  header.transaction_id = id;
  encode_mad_header(header, request.packet.mad);
  // A send that fails is a request that nobody answers: it is tried again when it is due.
  if (transport_.send(request.packet)) ++stats_.sent;
  request.timer = Timer(runtime_, runtime_.now() + config_.timeout, [this, id] { on_timeout(id); });
}

/// Each attempt has its own id: the kernel refuses one that it still waits for.
void GmpClient::on_timeout(std::uint32_t id) {
  auto node = pending_.extract(id);
  Pending& request = node.mapped();
  if (request.retries_left == 0) {
    ++stats_.timeouts;
    const Error error{Errc::Timeout,
                      fmt::format("lid {} does not answer", request.packet.remote_lid)};
    const Done done = std::move(request.done);
    pump_ = Timer(runtime_, runtime_.now(), [this] { pump(); });
    return done(tl::unexpected(error));
  }
  --request.retries_left;
  node.key() = next_id_++;
  const std::uint32_t fresh = node.key();
  pending_.insert(std::move(node));
  inject(fresh);
}

void GmpClient::receive(const MadPacket& packet) {
  const auto header = decode_mad_header(packet.mad);
  if (!header) return;
  if (header->method != static_cast<std::uint8_t>(Method::GetResp)) {
    if (unsolicited_) unsolicited_(packet);
    return;
  }
  const auto found = pending_.find(static_cast<std::uint32_t>(header->transaction_id));
  if (found == pending_.end() || !fits(*header, packet, found->second.packet)) {
    ++stats_.unasked;
    return;
  }
  ++stats_.answered;
  const Done done = std::move(found->second.done);
  pending_.erase(found);
  pump_ = Timer(runtime_, runtime_.now(), [this] { pump(); });
  done(packet.mad);
}

}  // namespace smd
