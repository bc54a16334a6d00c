#include "tests/bench/sa/feed_orders.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>

namespace smd::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""ns;
using std::chrono_literals::operator""s;

struct Order {
  std::string file;
  unsigned window = 0;
  unsigned milliseconds = 0;
  unsigned rate = 0;
};

struct Questions {
  std::array<std::byte, kFeedMad> mad{};
  std::vector<FeedPair> pairs;
};

template <std::size_t kSize>
bool read_bytes(std::istream& in, std::array<std::byte, kSize>& bytes) {
  std::array<char, kSize> chars{};
  if (!in.read(chars.data(), kSize)) return false;
  std::memcpy(bytes.data(), chars.data(), kSize);
  return true;
}

bool read_questions(const std::string& name, Questions& questions) {
  std::ifstream in(name, std::ios::binary);
  if (!read_bytes(in, questions.mad)) return false;
  for (FeedPair pair; read_bytes(in, pair);) questions.pairs.push_back(pair);
  return !questions.pairs.empty();
}

void write_lids(const std::string& name, const std::vector<FeedPair>& pairs) {
  std::ofstream out(name, std::ios::binary);
  for (const FeedPair& pair : pairs) {
    std::array<char, sizeof(FeedPair)> chars{};
    std::memcpy(chars.data(), pair.data(), pair.size());
    out.write(chars.data(), chars.size());
  }
}

/// Of the whole process.
double cpu_s() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// What the instrument itself costs for each answer: questions taken and given back at once. Of a
/// feed that the manager does not see: it would take questions, too.
double own_cost_us(const Questions& questions) {
  constexpr unsigned kRounds = 20'000;
  const auto own = std::make_unique<Feed>();
  Feed& feed = *own;
  feed.open(questions.mad, questions.pairs, 1, false);
  std::array<std::byte, kFeedMad> mad{};
  std::array<std::byte, 2> asker{};
  const auto began = Clock::now();
  for (unsigned i = 0; i < kRounds; ++i) {
    static_cast<void>(feed.take(mad, asker));
    mad[feed_mad::kMethod] |= std::byte{0x80};
    static_cast<void>(feed.give(mad));
  }
  return seconds_since(began) / kRounds * 1e6;
}

std::string carry_out(Feed& feed, const Order& order, const std::function<void()>& wake) {
  Questions questions;
  if (!read_questions(order.file, questions)) return "error: no questions in " + order.file;
  const bool once = order.milliseconds == 0;
  const double own_us = once ? 0 : own_cost_us(questions);
  const auto interval = order.rate == 0 ? 0ns : std::chrono::nanoseconds(1s) / order.rate;
  feed.open(questions.mad,
            questions.pairs,
            order.window,
            once,
            static_cast<std::uint64_t>(interval.count()));
  const double cpu = cpu_s();
  const auto began = Clock::now();
  wake();
  if (once) {
    // The last question closes the feed; its answer is still to come.
    while ((feed.is_open() || feed.outstanding() != 0) && seconds_since(began) < 60)
      std::this_thread::sleep_for(1ms);
  } else {
    const auto end = began + std::chrono::milliseconds(order.milliseconds);
    for (auto due = began; order.rate != 0 && due < end; due += interval) {
      std::this_thread::sleep_until(due);
      wake();
    }
    std::this_thread::sleep_until(end);
  }
  feed.close();
  const std::uint64_t answered = feed.counts().answered;
  const std::uint64_t passed = feed.counts().passed;
  const double took = seconds_since(began);
  const double spent = cpu_s() - cpu;
  const auto closed = Clock::now();
  while (feed.outstanding() != 0 && Clock::now() - closed < 3s) std::this_thread::sleep_for(1ms);
  if (once) write_lids(order.file, feed.pairs());
  return fmt::format(
      R"({{"answered":{},"refused":{},"wrong":{},"unasked":{},"lost":{},"per_second":{},"passed":{},)"
      R"("cpu_us":{},"cores":{},"own_us":{},"p50_us":{},"p99_us":{},"max_us":{}}})",
      answered,
      feed.counts().refused.load(),
      feed.counts().wrong.load(),
      feed.counts().unasked.load(),
      feed.outstanding(),
      static_cast<double>(answered) / took,
      static_cast<double>(passed) / took,
      spent * 1e6 / static_cast<double>(std::max<std::uint64_t>(answered, 1)),
      spent / took,
      own_us,
      feed.waits().us_at(0.5),
      feed.waits().us_at(0.99),
      feed.waits().us_at(1));
}

int listening_socket(const char* path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  if (fd < 0 || ::bind(fd, any, sizeof address) != 0 || ::listen(fd, 4) != 0) std::abort();
  return fd;
}

std::string read_line(int fd) {
  std::string line;
  for (char c = 0; ::read(fd, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

bool run_ahead() {
  const sched_param priority{.sched_priority = ::sched_get_priority_min(SCHED_FIFO)};
  return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority) == 0;
}

void take_orders(Feed& feed, const std::function<void()>& wake) {
  const char* path = std::getenv("SMD_SA_FEED");
  if (path == nullptr) return;
  if (!run_ahead()) std::fputs("sa_feed: no real-time priority: questions may come late\n", stderr);
  const int listening = listening_socket(path);
  for (;;) {
    const int fd = ::accept(listening, nullptr, nullptr);
    if (fd < 0) continue;
    std::istringstream words(read_line(fd));
    Order order;
    std::string answer = "error: FILE WINDOW MILLISECONDS RATE";
    if (words >> order.file >> order.window >> order.milliseconds >> order.rate &&
        order.window > 0 && order.window <= kFeedMostInFlight)
      answer = carry_out(feed, order, wake);
    answer += '\n';
    if (::write(fd, answer.data(), answer.size()) < 0) std::perror("sa_feed");
    ::close(fd);
  }
}

}  // namespace smd::bench
