#include "smd/runtime/asio_runtime.h"

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <ctime>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "smd/base/check.h"
#include "smd/runtime/tcp_listener.h"
#include "smd/runtime/timer_queue.h"

namespace smd {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

// Tasks per turn, so that tasks which keep posting cannot starve sockets and signals.
constexpr unsigned kBatch = 1024;

/// The one catch of the process: nothing above the loop can repair a handler that threw.
template <class Function>
void run_or_abort(Function&& function) {
  try {
    function();
  } catch (const std::exception& e) {
    check_failed("no exception leaves a handler", e.what(), __FILE__, __LINE__);
  } catch (...) {
    check_failed("no exception leaves a handler", "unknown exception", __FILE__, __LINE__);
  }
}

}  // namespace

struct AsioRuntime::Impl {
  struct SignalWatch {
    SignalWatch(asio::io_context& io, int signal, Task t) : set(io, signal), task(std::move(t)) {}

    asio::signal_set set;
    Task task;
  };

  struct Arrival {
    TimePoint at;
    Task task;
  };

  TimePoint refreshed_now() {
    now = std::max(now, TimePoint{Clock::now() - epoch});
    return now;
  }

  TimerId add(TimePoint when, Task task) {
    const TimerId id = queue.add(std::max(when, in_turn ? now : refreshed_now()), std::move(task));
    if (!in_turn) arm();
    return id;
  }

  /// Runs what is due. The clock stands still meanwhile.
  void turn() {
    refreshed_now();
    take_inbox();
    in_turn = true;
    for (unsigned i = 0; i < kBatch; ++i) {
      const std::optional<Task> task = queue.pop_due(now);
      if (!task) break;
      (*task)();
      if (stopping.load(std::memory_order_relaxed)) break;
    }
    in_turn = false;
    arm();
  }

  /// Makes the next turn happen in time for the earliest deadline.
  void arm() {
    const std::optional<TimePoint> next = queue.next_deadline();
    if (!next || turn_posted) return;
    if (*next <= now) {
      turn_posted = true;
      asio::post(io, [this] {
        turn_posted = false;
        turn();
      });
      return;
    }
    // A timer that is armed for something later, or for something cancelled, is moved; waking for
    // nothing once is cheaper than moving it at every cancel.
    if (armed_for && *armed_for <= *next) return;
    armed_for = next;
    timer.expires_at(epoch + next->since_epoch);
    timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      armed_for.reset();
      turn();
    });
  }

  /// What came from elsewhere is due when it came: an answer that arrived while a task kept the
  /// loop busy goes before the timeout that passed meanwhile.
  void take_inbox() {
    {
      const std::lock_guard lock(inbox_mutex);
      draining.swap(inbox);
    }
    for (Arrival& arrival : draining) queue.add(arrival.at, std::move(arrival.task));
    draining.clear();
  }

  void post_from_elsewhere(Task task) {
    const TimePoint at{Clock::now() - epoch};
    bool first = false;
    {
      const std::lock_guard lock(inbox_mutex);
      first = inbox.empty();
      inbox.push_back({at, std::move(task)});
    }
    if (first) asio::post(io, [this] { turn(); });
  }

  void watch(SignalWatch& signal) {
    signal.set.async_wait([this, &signal](const boost::system::error_code& error, int) {
      if (error) return;
      add(refreshed_now(), signal.task);
      watch(signal);
    });
  }

  const Clock::time_point epoch = Clock::now() - std::chrono::seconds(1);  // now() is never zero
  TimerQueue queue;  // before io: socket handlers that die with io may still cancel timers
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> stay{io.get_executor()};
  asio::steady_timer timer{io};
  std::optional<TimePoint> armed_for;
  bool turn_posted = false;
  bool in_turn = false;
  TimePoint now{Clock::now() - epoch};
  std::atomic<std::thread::id> loop_thread{std::this_thread::get_id()};
  std::atomic<bool> stopping{false};
  std::mutex inbox_mutex;
  std::vector<Arrival> inbox;
  std::vector<Arrival> draining;
  std::list<SignalWatch> signals;
  // Last: their work may post until they are joined.
  asio::thread_pool worker{1};
  // Dumps that are asked for, dumps that are kept, an event's program, what clients left.
  asio::thread_pool aside{4};
};

AsioRuntime::AsioRuntime() : impl_(std::make_unique<Impl>()) {}

AsioRuntime::~AsioRuntime() {
  impl_->worker.stop();
  impl_->aside.stop();
  impl_->worker.join();
  impl_->aside.join();
  // Tasks may own sockets of io and timers of the queue: they go while both still stand.
  impl_->queue.clear();
}

TimePoint AsioRuntime::now() const { return impl_->in_turn ? impl_->now : impl_->refreshed_now(); }

TimePoint AsioRuntime::now_with_suspends() const {
  timespec at{};
  clock_gettime(CLOCK_BOOTTIME, &at);
  return {std::chrono::seconds(at.tv_sec) + Duration{at.tv_nsec}};
}

TimerId AsioRuntime::call_at(TimePoint when, Task task) {
  return impl_->add(when, std::move(task));
}

void AsioRuntime::cancel(TimerId id) { impl_->queue.cancel(id); }

void AsioRuntime::post(Task task) {
  if (std::this_thread::get_id() == impl_->loop_thread.load(std::memory_order_relaxed)) {
    impl_->add(impl_->now, std::move(task));
  } else {
    impl_->post_from_elsewhere(std::move(task));
  }
}

template <class Pool>
void AsioRuntime::offload_to(Pool& pool, Task work, Task then) {
  asio::post(pool, [this, work = std::move(work), then = std::move(then)]() mutable {
    run_or_abort(work);
    work = nullptr;  // whatever it holds dies on the worker, before `then` runs
    post(std::move(then));
  });
}

void AsioRuntime::offload(Task work, Task then) {
  offload_to(impl_->worker, std::move(work), std::move(then));
}

void AsioRuntime::offload_aside(Task work, Task then) {
  offload_to(impl_->aside, std::move(work), std::move(then));
}

void AsioRuntime::run() {
  impl_->loop_thread = std::this_thread::get_id();
  impl_->stopping = false;
  impl_->io.restart();
  run_or_abort([this] { impl_->io.run(); });
}

void AsioRuntime::stop() {
  impl_->stopping = true;
  impl_->io.stop();
}

void AsioRuntime::on_signal(int signal, Task task) {
  impl_->signals.emplace_back(impl_->io, signal, std::move(task));
  impl_->watch(impl_->signals.back());
}

boost::asio::io_context& AsioRuntime::io() { return impl_->io; }

Result<TcpListener> open_tcp_listener(const HostPort& at) {
  using boost::asio::ip::tcp;
  boost::system::error_code error;
  boost::asio::io_context io;
  tcp::resolver resolver(io);
  tcp::acceptor acceptor(io);
  // Who answers for names may be away, and nothing on the loop waits for that.
  const auto flags =
      tcp::resolver::passive | tcp::resolver::numeric_host | tcp::resolver::numeric_service;
  const std::string host = at.host == "localhost" ? "127.0.0.1" : at.host;
  const auto found = resolver.resolve(host, at.port, flags, error);
  if (error) {
    // A link's own address, before there is that link.
    const auto link = host.find('%');
    const bool may_come = link != std::string::npos &&
                          boost::asio::ip::make_address_v6(host.substr(0, link), error) !=
                              boost::asio::ip::address_v6();
    return may_come ? fail(Errc::Busy, host + " cannot be used now")
                    : fail(Errc::Invalid, host + " is no address");
  }
  const tcp::endpoint end = found.begin()->endpoint();
  acceptor.open(end.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(end, error);
  if (!error) acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (error) return fail(Errc::Busy, error.message());
  const unsigned port = acceptor.local_endpoint().port();
  return TcpListener{end.protocol().family(), acceptor.release(), port};
}

}  // namespace smd
