#include "smd/smp/smp_client.h"

#include <utility>

#include "smd/smp/client_impl.h"

namespace smd {

SmpClient::SmpClient(Runtime& runtime, Transport& transport, SmpClientConfig config)
    : impl_(std::make_unique<Impl>(runtime, transport, config)) {}

SmpClient::~SmpClient() = default;

void SmpClient::set_timeout(Duration timeout) {
  impl_->timeout = std::max(timeout, Duration{std::chrono::microseconds(1)});
}

void SmpClient::set_local_lid(Lid lid) { impl_->local_lid = lid; }

Lid SmpClient::local_lid() const { return impl_->local_lid; }

void SmpClient::set_same_port(MatchPort same_port) { impl_->same_port = std::move(same_port); }

void SmpClient::set_directed_only(FindPath find_path) { impl_->find_path = std::move(find_path); }

void SmpClient::set_port_m_keys(PortMKeys* keys) { impl_->port_m_keys = keys; }

MKey SmpClient::find_m_key(const SmpRoute& route, MKey name) const {
  return impl_->port_m_keys == nullptr ? name : impl_->port_m_keys->find(route, name);
}

void SmpClient::on_unsolicited(Unsolicited handler) { impl_->unsolicited = std::move(handler); }

void SmpClient::on_lost(std::function<void(const Error&)> handler) {
  impl_->lost_handler = std::move(handler);
  if (impl_->lost) impl_->deliver_soon();
}

Result<void> SmpClient::send_once(const MadPacket& packet) {
  if (impl_->lost) return tl::unexpected(*impl_->lost);
  return impl_->transport.send(packet);
}

const SmpStats& SmpClient::stats() const { return impl_->stats; }

unsigned SmpClient::window() const { return impl_->window.size(); }

std::size_t SmpClient::outstanding() const { return impl_->on_wire; }

std::size_t SmpClient::queued() const { return impl_->queued; }

SmpScope::SmpScope(SmpClient& client) : client_(client), id_(client.impl_->requests.open_scope()) {}

SmpScope::~SmpScope() {
  client_.impl_->cancel(id_);
  client_.impl_->requests.close_scope(id_);
}

void SmpScope::send(const SmpRequest& request, SmpClient::Done done) {
  client_.impl_->add(id_, request, std::move(done));
}

void SmpScope::cancel_all() { client_.impl_->cancel(id_); }

std::size_t SmpScope::pending() const { return client_.impl_->requests.count_of(id_); }

void SmpPump::start(IssueNext issue_next, std::function<void()> done) {
  issue_next_ = std::move(issue_next);
  done_ = std::move(done);
  pump();
}

void SmpPump::send(const SmpRequest& request,
                   std::function<void(const Result<SmpReply>&)> on_reply) {
  ++outstanding_;
  scope_.send(request, [this, on_reply = std::move(on_reply)](const Result<SmpReply>& reply) {
    --outstanding_;
    on_reply(reply);
    pump();
  });
}

void SmpPump::pump() {
  // Twice the window keeps the client busy without queueing the whole series in memory.
  while (issue_next_ && outstanding_ < 2 * static_cast<std::size_t>(client_.window())) {
    if (!issue_next_()) issue_next_ = nullptr;
  }
  if (outstanding_ == 0 && done_) std::exchange(done_, nullptr)();
}

}  // namespace smd
