#include "sim-backend/traffic/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// A line, comments included, with what ends it.
constexpr std::size_t kLongestLine = std::size_t{1} << 16;

constexpr std::uint32_t kMostBytes = 1u << 30;
constexpr std::uint64_t kMostNanos = 9'000'000'000'000'000;  // in picoseconds they fit a Picos

/// Cuts the next word off.
std::string_view take_word(std::string_view& text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

bool read_number(std::string_view word, std::uint64_t most, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc{} && end == word.data() + word.size() && out <= most;
}

/// Nanoseconds with up to three decimals.
bool read_time(std::string_view word, Picos& out) {
  const std::size_t point = word.find('.');
  std::uint64_t nanos = 0;
  if (!read_number(word.substr(0, point), kMostNanos, nanos)) return false;
  out = static_cast<Picos>(nanos) * kNano;
  if (point == std::string_view::npos) return true;
  const std::string_view rest = word.substr(point + 1);
  std::uint64_t picos = 0;
  if (rest.empty() || rest.size() > 3 || !read_number(rest, 999, picos)) return false;
  for (std::size_t digits = rest.size(); digits < 3; ++digits) picos *= 10;
  out += static_cast<Picos>(picos);
  return true;
}

}  // namespace

TraceReader::TraceReader(std::istream& in, std::string name, HostNum hosts)
    : in_(in), name_(std::move(name)), hosts_(hosts), text_(kLongestLine, '\0') {}

Parsed<std::optional<TraceLine>> TraceReader::next() {
  while (in_.getline(text_.data(), static_cast<std::streamsize>(text_.size()))) {
    ++line_;
    const auto taken = static_cast<std::size_t>(in_.gcount());
    std::string_view rest(text_.data(), in_.eof() ? taken : taken - 1);  // its end is counted
    if (!rest.empty() && rest.back() == '\r') rest.remove_suffix(1);
    rest = rest.substr(0, rest.find('#'));
    const std::string_view time = take_word(rest);
    if (time.empty()) continue;
    TraceLine out;
    std::uint64_t source = 0, destination = 0, bytes = 0, sl = 0;
    if (!read_time(time, out.at)) {
      return fault(name_, line_, "the time is no number of nanoseconds, such as 1500.25");
    }
    if (out.at < last_) return fault(name_, line_, "the time is before that of the line above");
    if (!read_number(take_word(rest), hosts_ - 1, source) ||
        !read_number(take_word(rest), hosts_ - 1, destination)) {
      return fault(
          name_, line_, fmt::format("source and destination are hosts 0 to {}", hosts_ - 1));
    }
    if (!read_number(take_word(rest), kMostBytes, bytes)) {
      return fault(name_, line_, fmt::format("the size is 0 to {} bytes", kMostBytes));
    }
    const std::string_view level = take_word(rest);
    if (!level.empty() && !read_number(level, 15, sl)) {
      return fault(name_, line_, "the service level is 0 to 15");
    }
    if (!take_word(rest).empty()) {
      return fault(name_, line_, "a line is TIME SOURCE DESTINATION BYTES [SL]");
    }
    last_ = out.at;
    out.source = static_cast<HostNum>(source);
    out.destination = static_cast<HostNum>(destination);
    out.bytes = static_cast<std::uint32_t>(bytes);
    if (!level.empty()) out.sl = static_cast<std::uint8_t>(sl);
    return std::optional(out);
  }
  if (in_.bad()) return fault(name_, line_, "cannot be read");
  if (!in_.eof()) {
    return fault(
        name_, line_ + 1, fmt::format("a line has at most {} characters", kLongestLine - 1));
  }
  return std::optional<TraceLine>();
}

Parsed<std::uint64_t> check_trace(std::istream& in,
                                  const std::string& name,
                                  HostNum hosts,
                                  bool worms) {
  TraceReader reader(in, name, hosts);
  std::uint64_t lines = 0;
  while (true) {
    const auto line = reader.next();
    if (!line) return tl::unexpected(line.error());
    if (!*line) return lines;
    if (const HostNum from = (*line)->source; worms && from == (*line)->destination) {
      return fault(
          name,
          reader.line(),
          fmt::format("host {} sends to itself, which worms do not: another destination", from));
    }
    ++lines;
  }
}

TraceTraffic::TraceTraffic(const DataNet& net,
                           std::vector<std::unique_ptr<std::istream>> copies,
                           const std::string& name,
                           unsigned mtu,
                           std::function<std::uint8_t(HostNum, HostNum)> sl)
    : mtu_(mtu), sl_(std::move(sl)) {
  SMD_CHECK(copies.size() == net.partitions(), "each partition reads a trace of its own");
  const HostNum hosts = net.host_count();
  for (auto& copy : copies) {
    TraceReader reader(*copy, name, hosts);
    feeds_.push_back({.in = std::move(copy), .reader = std::move(reader), .next = {}});
  }
  for (HostNum host = 0; host < hosts; ++host) {
    partition_of_.push_back(net.partition_of(host));
    lids_.push_back(net.host_lid(host));
    if (feed_of(host).clock == kNowhere) feed_of(host).clock = host;
  }
  for (Feed& feed : feeds_) advance(feed);
}

/// To the next message of the partition.
void TraceTraffic::advance(Feed& feed) {
  do {
    const auto line = feed.reader.next();
    feed.next = line ? *line : std::nullopt;
  } while (feed.next && &feed_of(feed.next->source) != &feed);
}

/// The first host of a partition is the clock of all its hosts.
Picos TraceTraffic::first(HostNum host) {
  const Feed& feed = feed_of(host);
  return host == feed.clock && feed.next ? feed.next->at : kNever;
}

Picos TraceTraffic::emit(DataNet& net, HostNum host, Picos now) {
  Feed& feed = feed_of(host);
  while (feed.next && feed.next->at <= now) {
    const auto [at, source, destination, bytes, sl] = *feed.next;
    PacketRequest sending{.dlid = lids_[destination],
                          .sl = sl    ? *sl
                                : sl_ ? sl_(source, destination)
                                      : std::uint8_t{0}};
    std::uint32_t left = bytes;
    do {
      sending.payload = static_cast<std::uint16_t>(std::min(left, mtu_));
      net.send(source, sending);
      left -= sending.payload;
    } while (left > 0);
    advance(feed);
  }
  return feed.next ? feed.next->at : kNever;
}

bool TraceTraffic::finished() const {
  return std::ranges::all_of(feeds_, [](const Feed& feed) { return !feed.next; });
}

}  // namespace smd::sim
