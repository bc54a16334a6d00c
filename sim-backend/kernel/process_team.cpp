#include "sim-backend/kernel/process_team.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <limits>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// What begins a message.
struct MessageHeader {
  std::uint64_t step = 0;  // the agreement that it came with
  std::uint64_t bytes = 0;
};

}  // namespace

ProcessTeam::ProcessTeam(Processes& processes, unsigned members)
    : processes_(processes), members_(members), out_(processes.count()), in_(processes.count()) {
  SMD_CHECK(members >= processes.count(), "each process has a member");
}

void ProcessTeam::connect(unsigned from, unsigned to, ProcessChannel& channel) {
  SMD_CHECK(is_here(from) != is_here(to), "a channel leads from one process to another");
  routes_.push_back({.from = home_of(from), .to = home_of(to), .channel = &channel});
}

void ProcessTeam::run(unsigned count, const std::function<void(unsigned)>& work) {
  SMD_CHECK(count == members_, "another team's work");
  caller_ = std::this_thread::get_id();
  unsigned first = 0;
  while (!is_here(first)) ++first;
  unsigned here = 0;
  while (first + here < count && is_here(first + here)) ++here;
  threads_.run(here, [&work, first](unsigned number) { work(first + number); });
}

/// One thread speaks for its process while the others wait.
std::int64_t ProcessTeam::least(std::int64_t own) {
  const std::int64_t here = threads_.least(own);
  const bool speaks = std::this_thread::get_id() == caller_;
  return threads_.least(speaks ? meet(here) : std::numeric_limits<std::int64_t>::max());
}

std::int64_t ProcessTeam::meet(std::int64_t own) {
  ++step_;
  for (Processes::Bytes& bytes : out_) bytes.assign(sizeof(MessageHeader), {});
  for (const Route& route : routes_) {
    if (route.from == processes_.number()) route.channel->write(out_[route.to]);
  }
  for (Processes::Bytes& bytes : out_) {
    const MessageHeader header{.step = step_, .bytes = bytes.size()};
    std::memcpy(bytes.data(), &header, sizeof header);
  }
  const auto step = static_cast<std::int64_t>(step_);
  std::array<std::int64_t, 3> values{own, step, -step};
  processes_.exchange(values, out_, in_);
  check_step(values);
  std::vector<std::span<const std::byte>> left(in_.begin(), in_.end());
  for (unsigned i = 0; i < left.size(); ++i) {
    if (i == processes_.number()) continue;
    MessageHeader header;
    if (left[i].size() >= sizeof header) std::memcpy(&header, left[i].data(), sizeof header);
    if (header.step != step_ || header.bytes != left[i].size()) {
      processes_.fail(
          fmt::format("what process {} sent with agreement {} is not what belongs there "
                      "({} bytes, of agreement {})",
                      i,
                      step_,
                      left[i].size(),
                      header.step));
    }
    left[i] = left[i].subspan(sizeof header);
  }
  for (const Route& route : routes_) {
    if (route.to != processes_.number()) continue;
    if (!route.channel->read(left[route.from])) {
      processes_.fail(fmt::format(
          "the message of process {} with agreement {} is cut short", route.from, step_));
    }
  }
  return values[0];
}

void ProcessTeam::check_step(std::span<const std::int64_t> agreed) {
  if (agreed[1] == -agreed[2]) return;
  processes_.fail(fmt::format(
      "processes are out of step: one is at agreement {}, another at {}", agreed[1], -agreed[2]));
}

std::int64_t ProcessTeam::most(std::int64_t own) {
  const auto step = static_cast<std::int64_t>(++step_);
  std::array<std::int64_t, 3> values{-own, step, -step};
  processes_.agree(values);
  check_step(values);
  return -values[0];
}

void ProcessTeam::share_all(unsigned member, Processes::Bytes& bytes) {
  const bool here = is_here(member);
  bytes.resize(static_cast<std::size_t>(most(here ? static_cast<std::int64_t>(bytes.size()) : 0)));
  share(member, bytes);
}

}  // namespace smd::sim
