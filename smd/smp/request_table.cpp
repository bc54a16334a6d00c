#include "smd/smp/request_table.h"

#include <utility>

#include "smd/base/check.h"

namespace smd {

std::uint32_t RequestTable::open_scope() {
  if (free_scopes_.empty()) {
    scopes_.emplace_back();
    return static_cast<std::uint32_t>(scopes_.size() - 1);
  }
  const std::uint32_t scope = free_scopes_.back();
  free_scopes_.pop_back();
  return scope;
}

void RequestTable::close_scope(std::uint32_t scope) {
  SMD_CHECK(scopes_[scope].count == 0, "a scope closes with requests in it");
  free_scopes_.push_back(scope);
}

RequestHandle RequestTable::add(std::uint32_t scope,
                                const SmpRequest& request,
                                SmpClient::Done done) {
  std::uint32_t index = 0;
  if (free_requests_.empty()) {
    index = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
  } else {
    index = free_requests_.back();
    free_requests_.pop_back();
  }
  PendingRequest& entry = requests_[index];
  entry.state = PendingRequest::State::Queued;
  entry.attempt = 0;
  entry.garbled = entry.busy = false;
  entry.early = 0;
  entry.request = request;
  entry.done = std::move(done);
  entry.scope = scope;
  entry.previous = kNobody;
  entry.next = std::exchange(scopes_[scope].first, index);
  if (entry.next != kNobody) requests_[entry.next].previous = index;
  ++scopes_[scope].count;
  return {index, entry.generation};
}

PendingRequest* RequestTable::find(RequestHandle handle) {
  if (handle.index >= requests_.size()) return nullptr;
  PendingRequest& entry = requests_[handle.index];
  return entry.generation == handle.generation ? &entry : nullptr;
}

SmpClient::Done RequestTable::remove(std::uint32_t index) {
  PendingRequest& entry = requests_[index];
  Scope& scope = scopes_[entry.scope];
  (entry.previous == kNobody ? scope.first : requests_[entry.previous].next) = entry.next;
  if (entry.next != kNobody) requests_[entry.next].previous = entry.previous;
  --scope.count;
  entry.state = PendingRequest::State::Free;
  ++entry.generation;
  free_requests_.push_back(index);
  return std::exchange(entry.done, nullptr);
}

PendingRequest* RequestTable::first_of(std::uint32_t scope) {
  return scopes_[scope].first == kNobody ? nullptr : &requests_[scopes_[scope].first];
}

std::vector<RequestHandle> RequestTable::all() const {
  std::vector<RequestHandle> handles;
  for (std::uint32_t index = 0; index < requests_.size(); ++index) {
    if (requests_[index].state != PendingRequest::State::Free) handles.push_back(handle(index));
  }
  return handles;
}

}  // namespace smd
