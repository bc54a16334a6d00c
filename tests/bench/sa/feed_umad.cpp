// libsmd_sa_feed.so: stands between a manager and libibumad, ahead of libumad2sim. Everything goes
// through, and questions come in between as if hosts had asked (feed_order.h).
//
// A thread of its own waits for the port below, since the manager's thread that receives must wait
// for questions as well; both managers have just one such thread.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <infiniband/umad.h>

#include <cerrno>
#include <mutex>
#include <thread>

#include "tests/bench/sa/arrivals.h"
#include "tests/bench/sa/feed.h"
#include "tests/bench/sa/feed_orders.h"

namespace smd::bench {
namespace {

constexpr int kAdministration = 3;  // management class
constexpr std::uint32_t kGsiQKey = 0x80010000;

Feed feed;
Arrivals arrivals;
std::atomic<int> agent = -1;  // for the class
std::once_flag started;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

using Register = int (*)(int, int, int, std::uint8_t, long*);
using Receive = int (*)(int, void*, int*, int);
using Send = int (*)(int, int, void*, int, int, int);

std::byte* mad_of(void* umad) { return static_cast<std::byte*>(umad_get_mad(umad)); }

std::size_t buffer_size() { return static_cast<std::size_t>(umad_size()) + kFeedMad; }

void start(int fd) {
  std::thread([fd] {
    run_ahead();
    const auto receive = next<Receive>("umad_recv");
    for (;;) {
      Arrival arrival{.umad = std::vector<std::byte>(buffer_size()), .length = kFeedMad};
      arrival.agent = receive(fd, arrival.umad.data(), &arrival.length, -1);
      if (arrival.agent >= 0) arrivals.push(std::move(arrival));
    }
  }).detach();
  std::thread([] { take_orders(feed, [] { arrivals.wake(); }); }).detach();
}

/// A question as the kernel would hand it over.
bool take_question(void* umad, int* length) {
  if (!feed.has_questions()) return false;
  std::array<std::byte, 2> asker{};
  std::memset(umad, 0, static_cast<std::size_t>(umad_size()));
  if (!feed.take(std::span<std::byte, kFeedMad>(mad_of(umad), kFeedMad), asker)) return false;
  static_cast<ib_user_mad*>(umad)->agent_id = static_cast<std::uint32_t>(agent.load());
  static_cast<ib_user_mad*>(umad)->length = kFeedMad;
  const int lid = static_cast<int>(big_endian<std::uint16_t>(asker.data()));
  umad_set_addr(umad, lid, 1, 0, static_cast<int>(kGsiQKey));
  *length = kFeedMad;
  return true;
}

}  // namespace
}  // namespace smd::bench

extern "C" {

[[gnu::visibility("default")]] int umad_register(
    int fd, int mgmt_class, int version, std::uint8_t rmpp_version, long* methods) {
  using namespace smd::bench;
  const int id = next<Register>("umad_register")(fd, mgmt_class, version, rmpp_version, methods);
  if (mgmt_class == kAdministration && id >= 0) agent = id;
  return id;
}

[[gnu::visibility("default")]] int umad_recv(int fd, void* umad, int* length, int timeout_ms) {
  using namespace smd::bench;
  std::call_once(started, start, fd);
  for (bool waited = false;; waited = timeout_ms >= 0) {
    if (Arrival arrival; arrivals.pop(arrival)) {
      std::memcpy(umad, arrival.umad.data(), arrival.umad.size());
      *length = arrival.length;
      return arrival.agent;
    }
    if (take_question(umad, length)) return agent;
    if (timeout_ms == 0) return -EAGAIN;
    if (waited) return -ETIMEDOUT;
    arrivals.wait(timeout_ms, [] { return feed.has_questions(); });
  }
}

[[gnu::visibility("default")]] int umad_send(
    int fd, int agent_id, void* umad, int length, int timeout_ms, int retries) {
  using namespace smd::bench;
  static const auto send = next<Send>("umad_send");
  if (agent_id == agent && feed.give({mad_of(umad), static_cast<std::size_t>(length)})) {
    arrivals.wake();
    return 0;
  }
  feed.note_passed();
  return send(fd, agent_id, umad, length, timeout_ms, retries);
}

}  // extern "C"
