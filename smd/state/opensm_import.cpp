#include "smd/base/text.h"
#include "smd/state/opensm_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "smd/base/fault_list.h"

namespace smd {

namespace {

/// What is wrong with a line; empty where nothing is.
struct Wrong {
  std::string why;
  std::string_view where{};  // part of the line
};

/// Runs `read` on every line that is not empty and no comment; what it returns is a fault.
Faults for_lines(std::string_view text,
                 const std::string& file,
                 const std::function<Wrong(std::string_view)>& read) {
  FaultList faults(file);
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view whole = text.substr(0, end);
    const std::string_view line = trim(whole);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (Wrong wrong = read(line); !wrong.why.empty())
      faults.add(number, column_of(whole, wrong.where), std::move(wrong.why));
  }
  return faults.take();
}

/// Up to the next blank.
std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r"));
}

/// Hexadecimal values by their keys, in the order in which they stand; after a failure all are 0.
class Fields {
 public:
  /// All that OpenSM 3.3 writes: none of them is another one mistyped.
  static constexpr std::string_view kNames[] = {"id",
                                                "gid",
                                                "pkey",
                                                "lease",
                                                "key",
                                                "name",
                                                "data8",
                                                "data16",
                                                "data32",
                                                "data64",
                                                "lid",
                                                "modified_time",
                                                "lease_period",
                                                "subscriber_gid",
                                                "subscriber_enum",
                                                "path_bits",
                                                "lid_range_begin",
                                                "lid_range_end",
                                                "is_generic",
                                                "subscribe",
                                                "trap_type",
                                                "trap_num",
                                                "qpn_resp_time_val",
                                                "node_type",
                                                "static_rate",
                                                "remote_qp",
                                                "remote_qkey",
                                                "pkey_ix",
                                                "sl"};

  /// Of a number that is written as two.
  static constexpr std::string_view kSecondHalf = ":0x";

  explicit Fields(std::string_view line) : rest_(line) {}

  /// The digits after `key`, as in " lease=0x" or ":0x".
  std::uint64_t hex(std::string_view key, std::uint64_t most) {
    if (!ok()) return 0;
    const std::size_t at = rest_.find(key);
    const bool follows = at == 0 || key != kSecondHalf;
    if (at == std::string_view::npos || !follows) return miss(key);
    rest_.remove_prefix(at + key.size());
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.begin(), rest_.end(), value, 16);
    if (error != std::errc{} || value > most) {
      wrong_ = {fmt::format("'{}' is no hexadecimal number up to {:x}", first_word(rest_), most),
                rest_.substr(0, 0)};
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.begin()));
    return value;
  }

  template <class T>
  T hex(std::string_view key) {
    return static_cast<T>(hex(key, std::numeric_limits<T>::max()));
  }

  Gid gid(std::string_view key) {
    const auto prefix = hex<std::uint64_t>(key);
    return {prefix, Guid{hex<std::uint64_t>(kSecondHalf)}};
  }

  /// Sixteen bytes as two numbers.
  template <std::size_t N>
  void bytes(std::string_view key, std::array<std::uint8_t, N>& out, std::size_t at) {
    for (const std::string_view part : {key, kSecondHalf}) {
      const auto value = hex<std::uint64_t>(part);
      for (unsigned i = 0; i < 8; ++i)
        out[at++] = static_cast<std::uint8_t>(value >> (56 - 8 * i) & 0xff);
    }
  }

  /// Between quotes. It may hold anything: what follows is found behind the last quote.
  std::string_view quoted(std::string_view key, std::string_view next_key) {
    if (!ok()) return {};
    const std::size_t at = rest_.find(key);
    const std::size_t end = rest_.rfind(next_key);
    if (at == std::string_view::npos || end == std::string_view::npos || end < at + key.size()) {
      miss(at == std::string_view::npos ? key : next_key);
      return {};
    }
    const std::string_view text = rest_.substr(at + key.size(), end - at - key.size());
    rest_.remove_prefix(end);
    return text;
  }

  [[nodiscard]] bool ok() const { return wrong_.why.empty(); }

  /// The first that was, in a record called so.
  [[nodiscard]] Wrong wrong(std::string_view record) const {
    return {fmt::format("no {} as OpenSM 3.3 writes it: {}", record, wrong_.why), wrong_.where};
  }

 private:
  /// It is left out, or a mistyped word stands for it.
  std::uint64_t miss(std::string_view key) {
    const std::array wanted{name_in(key)};
    std::string_view rest = trim(rest_);
    wrong_ = {fmt::format("{} is missing from here on", wanted[0]), first_word(rest)};
    while (!rest.empty()) {
      const std::string_view word = first_word(rest);
      const std::string_view name = word.substr(0, word.find('='));
      const bool known = std::ranges::find(kNames, name) != std::end(kNames);
      const std::string nearest =
          !known && name.size() < word.size() ? name_nearest(name, wanted) : std::string();
      if (!nearest.empty()) {
        wrong_ = {fmt::format("no field is called '{}'; {}it is missing", name, nearest), word};
        return 0;
      }
      rest = trim(rest.substr(word.size()));
    }
    return 0;
  }

  /// " lease=0x" is of lease.
  static std::string_view name_in(std::string_view key) {
    if (key == kSecondHalf) return "the second half of a number";
    const std::size_t first = key.find_first_not_of("' ");
    return key.substr(first, key.find('=') - first);
  }

  std::string_view rest_;
  Wrong wrong_;
};

Wrong read_service(std::string_view line, const Moment& now, ClientRecords& out) {
  Fields in(line);
  sa::Service service;
  sa::ServiceRecord& record = service.record;
  record.id = in.hex<std::uint64_t>(" id=0x");
  record.gid = in.gid(" gid=0x");
  record.p_key = PKey{in.hex<std::uint16_t>(" pkey=0x")};
  record.lease_s = in.hex<std::uint32_t>(" lease=0x");
  in.bytes(" key=0x", record.key, 0);
  const std::string_view name = in.quoted(" name='", "' data8=");
  if (name.size() > record.name.size())
    return {fmt::format("the service's name is too long; {} bytes", record.name.size()), name};
  std::ranges::copy(name, record.name.begin());
  in.bytes(" data8=0x", record.data, 0);
  in.bytes(" data16=0x", record.data, 16);
  in.bytes(" data32=0x", record.data, 32);
  in.bytes(" data64=0x", record.data, 48);
  const auto written_s = in.hex<std::uint32_t>(" modified_time=0x");
  const auto lease_s = in.hex<std::uint32_t>(" lease_period=0x");
  if (!in.ok()) return in.wrong("service record");
  service.owner = record.gid.guid;  // OpenSM does not remember who registered it
  if (lease_s != sa::kForever) {
    // OpenSM counts down what is left at times, and says when it last did, in seconds since 1970.
    const std::int64_t since = now.wall_ms / 1000 - std::int64_t{written_s};
    const std::int64_t left = lease_s - std::max<std::int64_t>(since, 0);
    if (left <= 0) return {};
    service.expires = now.runtime + std::chrono::seconds(left);
  }
  out.services.push_back(service);
  return {};
}

Wrong read_subscription(std::string_view line, ClientRecords& out) {
  Fields in(line);
  const Gid subscriber = in.gid(" subscriber_gid=0x");
  sa::Subscription what;
  what.info.gid = in.gid(" gid=0x");
  what.info.lid_first = Lid{in.hex<std::uint16_t>(" lid_range_begin=0x")};
  what.info.lid_last = Lid{in.hex<std::uint16_t>(" lid_range_end=0x")};
  what.info.is_generic = static_cast<std::uint8_t>(in.hex(" is_generic=0x", 1));
  what.info.type = in.hex<std::uint16_t>(" trap_type=0x");
  what.info.trap_or_device = in.hex<std::uint16_t>(" trap_num=0x");
  what.info.resp_time =
      static_cast<std::uint8_t>(in.hex<std::uint32_t>(" qpn_resp_time_val=0x") & 31);
  what.info.producer_or_vendor = static_cast<std::uint32_t>(in.hex(" node_type=0x", 0xffffff));
  const auto qp = static_cast<std::uint32_t>(in.hex(" remote_qp=0x", 0xffffff));
  what.pkey_index = in.hex<std::uint16_t>(" pkey_ix=0x");
  what.sl = static_cast<std::uint8_t>(in.hex(" sl=0x", 15));
  if (!in.ok()) return in.wrong("InformInfo record");
  if (what.info.gid == Gid{} && what.info.lid_first != sa::kAnyLid &&
      what.info.lid_last == kUnassignedLid)
    what.info.lid_last = what.info.lid_first;
  what.info.qpn = qp;
  std::vector<sa::Subscription>& own = out.subscriptions[{subscriber.guid, qp}];
  what.number = static_cast<std::uint16_t>(own.size());
  own.push_back(what);
  return {};
}

/// GUID, first and last LID.
Wrong read_lids(std::string_view line, LidBook& book) {
  constexpr const char* kLine = "a line is GUID FIRST_LID LAST_LID, each 0x…";
  std::array<std::uint64_t, 3> values{};
  std::array<std::string_view, 3> words;
  for (std::size_t i = 0; i < values.size(); ++i) {
    line = trim(line);
    words[i] = first_word(line);
    if (!line.starts_with("0x")) return {kLine, words[i].empty() ? words[0] : words[i]};
    const auto [end, error] = std::from_chars(line.begin() + 2, line.end(), values[i], 16);
    if (error != std::errc{}) return {kLine, words[i]};
    line.remove_prefix(static_cast<std::size_t>(end - line.begin()));
  }
  if (!trim(line).empty()) return {kLine, trim(line)};
  const auto [guid, first, last] = values;
  if (guid == 0) return {"0 is no GUID", words[0]};
  if (first == 0 || last < first || last > kTopUnicastLid.value())
    return {"LIDs go from 0x0001 to 0xbfff, the last not below the first",
            first == 0 || first > kTopUnicastLid.value() ? words[1] : words[2]};
  const std::uint64_t size = last - first + 1;
  if (!std::has_single_bit(size) || size > 128 || first % size != 0)
    return {fmt::format("{} LIDs from 0x{:04x} are no range of an LMC", size, first), words[1]};
  const LidRecord record{Lid{static_cast<std::uint16_t>(first)},
                         static_cast<std::uint8_t>(std::countr_zero(size))};
  for (const auto& [other, taken] : book) {
    const std::uint64_t taken_last = taken.base.value() + (std::uint64_t{1} << taken.lmc) - 1;
    if (first <= taken_last && taken.base.value() <= last)
      return {fmt::format("LID 0x{:04x} belongs to {} already", first, other), words[1]};
  }
  if (!book.emplace(Guid{guid}, record).second) return {"this GUID has a line already", words[0]};
  return {};
}

/// A line of opensm-sa.dump that begins as none does.
Wrong name_record(std::string_view line) {
  constexpr std::string_view kRecords[] = {
      "Service Record", "InformInfo Record", "GUIDInfo Record", "MC Group", "mcm_port"};
  const std::string_view begin = line.substr(0, line.find(':'));
  return {fmt::format("no record of opensm-sa.dump; {}one of {}",
                      name_nearest(begin, kRecords),
                      fmt::join(kRecords, ", ")),
          begin};
}

}  // namespace

Parsed<LidBook> parse_guid2lid(std::string_view text, const std::string& file) {
  LidBook book;
  Faults faults =
      for_lines(text, file, [&](std::string_view line) { return read_lids(line, book); });
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return book;
}

Parsed<OpensmDump> parse_opensm_dump(std::string_view text,
                                     const std::string& file,
                                     const Moment& now) {
  OpensmDump dump;
  const auto read = [&](std::string_view line) -> Wrong {
    if (line.starts_with("Service Record:")) return read_service(line, now, dump.records);
    if (line.starts_with("InformInfo Record:")) return read_subscription(line, dump.records);
    if (line.starts_with("mcm_port:")) return {};
    if (line.starts_with("MC Group ")) {
      ++dump.groups;
      return {};
    }
    if (line.starts_with("GUIDInfo Record:")) {
      ++dump.aliases;
      return {};
    }
    return name_record(line);
  };
  Faults faults = for_lines(text, file, read);
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return dump;
}

}  // namespace smd
