#include "smd/state/client_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>

#include "smd/base/fault_list.h"

namespace smd {

namespace {

constexpr std::string_view kNever = "never";

template <std::size_t N>
std::string print_hex(const std::array<std::uint8_t, N>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

/// The words of a line, one after the other; failure is sticky.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}

  std::string_view word() {
    const std::size_t begin = rest_.find_first_not_of(' ');
    if (begin == std::string_view::npos) {
      ok_ = false;
      return {};
    }
    const std::size_t end = std::min(rest_.find(' ', begin), rest_.size());
    const std::string_view found = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return found;
  }

  std::uint64_t number(std::uint64_t most) { return parse(word(), most); }

  template <class T>
  T number() {
    return static_cast<T>(number(std::numeric_limits<T>::max()));
  }

  Gid gid() { return {.prefix = number<std::uint64_t>(), .guid = Guid{number<std::uint64_t>()}}; }

  template <std::size_t N>
  std::array<std::uint8_t, N> hex() {
    std::array<std::uint8_t, N> bytes{};
    const std::string_view text = word();
    if (text.size() != 2 * N) {
      ok_ = false;
      return bytes;
    }
    for (std::size_t i = 0; i < N; ++i) {
      const std::string_view two = text.substr(2 * i, 2);
      const auto [end, error] = std::from_chars(two.begin(), two.end(), bytes[i], 16);
      if (error != std::errc{} || end != two.end()) ok_ = false;
    }
    return bytes;
  }

  /// 0 for what is none, or more than `most`.
  std::uint64_t parse(std::string_view text, std::uint64_t most) {
    int base = 10;
    if (text.starts_with("0x")) {
      text.remove_prefix(2);
      base = 16;
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), value, base);
    if (error == std::errc{} && end == text.end() && value <= most) return value;
    ok_ = false;
    return 0;
  }

  void refuse() { ok_ = false; }

  [[nodiscard]] bool ok() const { return ok_; }

  /// What was not read yet, with the space before it.
  [[nodiscard]] std::string_view rest() const { return rest_; }

  [[nodiscard]] bool at_end() const {
    return rest_.find_first_not_of(' ') == std::string_view::npos;
  }

  /// Everything was understood and nothing is left.
  [[nodiscard]] bool done() const { return ok_ && at_end(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

std::string print_subscription(const sa::Subscriber& who, const sa::Subscription& what) {
  const sa::InformInfo& info = what.info;
  return fmt::format("subscription {} {} {} 0x{:016x} {} {} {} {} {} {} {} {} {} {} {} 0x{:04x}\n",
                     who.port,
                     who.qp,
                     what.number,
                     info.gid.prefix,
                     info.gid.guid,
                     info.lid_first.value(),
                     info.lid_last.value(),
                     info.is_generic,
                     info.type,
                     info.trap_or_device,
                     info.producer_or_vendor,
                     info.resp_time,
                     what.sl,
                     what.pkey_index,
                     what.trusted ? 1 : 0,
                     what.p_key.value());
}

void read_subscription(Words& in, ClientRecords& out) {
  sa::Subscriber who;
  who.port = Guid{in.number<std::uint64_t>()};
  who.qp = static_cast<std::uint32_t>(in.number(0xffffff));
  sa::Subscription what;
  what.number = in.number<std::uint16_t>();
  what.info.gid = in.gid();
  what.info.lid_first = Lid{in.number<std::uint16_t>()};
  what.info.lid_last = Lid{in.number<std::uint16_t>()};
  what.info.is_generic = static_cast<std::uint8_t>(in.number(1));
  what.info.type = in.number<std::uint16_t>();
  what.info.trap_or_device = in.number<std::uint16_t>();
  what.info.producer_or_vendor = static_cast<std::uint32_t>(in.number(0xffffff));
  what.info.resp_time = static_cast<std::uint8_t>(in.number(31));
  what.info.qpn = who.qp;
  what.sl = static_cast<std::uint8_t>(in.number(15));
  what.pkey_index = in.number<std::uint16_t>();
  what.trusted = in.number(1) == 1;
  if (!in.at_end()) what.p_key = PKey{in.number<std::uint16_t>()};
  if (in.done()) out.subscriptions[who].push_back(what);
}

void read_alias(Words& in, ClientRecords& out) {
  const Guid port{in.number<std::uint64_t>()};
  const auto index = static_cast<std::size_t>(in.number(255));
  const Guid alias{in.number<std::uint64_t>()};
  if (index == 0) in.refuse();
  if (!in.done()) return;
  std::vector<Guid>& further = out.aliases[port];
  if (further.size() <= index) further.resize(index + 1);
  further[index] = alias;
}

std::string print_group(const Group& group) {
  const GroupTraits& traits = group.traits;
  return fmt::format("group 0x{:016x} {} 0x{:04x} {} 0x{:04x} {} {} {} {} {} {} {} {} {}\n",
                     group.mgid.prefix,
                     group.mgid.guid,
                     group.mlid.value(),
                     traits.q_key,
                     traits.p_key.value(),
                     traits.mtu,
                     traits.rate,
                     traits.life_time,
                     traits.sl,
                     traits.tclass,
                     traits.hop_limit,
                     traits.scope,
                     traits.flow_label,
                     group.creator);
}

/// `GUID JOIN_STATE PROXY ASKED [PORT]`.
std::string print_member(Guid guid, const Member& member) {
  std::string text = fmt::format(
      "{} {} {} {}", guid, member.join_state, member.proxy_join ? 1 : 0, member.joined_by);
  if (member.port != Guid{}) fmt::format_to(std::back_inserter(text), " {}", member.port);
  return text + '\n';
}

void read_group(Words& in, ClientRecords& out) {
  Group group;
  group.mgid = in.gid();
  group.mlid = Lid{in.number<std::uint16_t>()};
  GroupTraits& traits = group.traits;
  traits.q_key = in.number<std::uint32_t>();
  traits.p_key = PKey{in.number<std::uint16_t>()};
  traits.mtu = static_cast<std::uint8_t>(in.number(5));
  traits.rate = static_cast<std::uint8_t>(in.number(63));
  traits.life_time = static_cast<std::uint8_t>(in.number(63));
  traits.sl = static_cast<std::uint8_t>(in.number(15));
  traits.tclass = in.number<std::uint8_t>();
  traits.hop_limit = in.number<std::uint8_t>();
  traits.scope = static_cast<std::uint8_t>(in.number(15));
  traits.flow_label = static_cast<std::uint32_t>(in.number(0xfffff));
  if (!in.at_end()) group.creator = Guid{in.number<std::uint64_t>()};
  if (in.done()) out.groups.push_back(std::move(group));
}

/// Of the group before it.
void read_member(Words& in, ClientRecords& out) {
  const Guid guid{in.number<std::uint64_t>()};
  const auto state = static_cast<std::uint8_t>(in.number(join_state::kAll));
  const bool proxy = in.number(1) == 1;
  const Guid joined_by = in.at_end() ? Guid{} : Guid{in.number<std::uint64_t>()};
  const Guid port = in.at_end() ? Guid{} : Guid{in.number<std::uint64_t>()};
  if (out.groups.empty()) in.refuse();
  if (in.done())
    out.groups.back().members[guid] = {
        .join_state = state, .proxy_join = proxy, .joined_by = joined_by, .port = port};
}

std::string print_service(const sa::Service& service, const Moment& now) {
  const sa::ServiceRecord& record = service.record;
  std::string expires(kNever);
  if (service.expires) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(*service.expires - now.runtime).count();
    expires = fmt::format("{}", now.wall_ms + left);
  }
  return fmt::format("service {} 0x{:016x} 0x{:016x} {} 0x{:04x} {} {} {} {} {}\n",
                     service.owner,
                     record.id,
                     record.gid.prefix,
                     record.gid.guid,
                     record.p_key.value(),
                     record.lease_s,
                     expires,
                     print_hex(record.key),
                     print_hex(record.name),
                     print_hex(record.data));
}

void read_service(Words& in, const Moment& now, ClientRecords& out) {
  sa::Service service;
  service.owner = Guid{in.number<std::uint64_t>()};
  sa::ServiceRecord& record = service.record;
  record.id = in.number<std::uint64_t>();
  record.gid = in.gid();
  record.p_key = PKey{in.number<std::uint16_t>()};
  record.lease_s = in.number<std::uint32_t>();
  const std::string_view expires = in.word();
  bool over = false;
  if (expires != kNever) {
    const auto wall = static_cast<std::int64_t>(in.parse(expires, INT64_MAX));
    const auto most = std::int64_t{1000} * record.lease_s;  // the world's clock may have been set
    const std::int64_t left = std::min(wall - now.wall_ms, most);
    over = left <= 0;
    service.expires = now.runtime + std::chrono::milliseconds(left);
  }
  record.key = in.hex<16>();
  record.name = in.hex<64>();
  record.data = in.hex<64>();
  if (!in.done()) return;
  if (over) {
    out.lapsed.insert(service.owner);
  } else {
    out.services.push_back(service);
  }
}

/// False when it is no record.
bool read_line(std::string_view line, const Moment& now, ClientRecords& records) {
  Words in(line);
  const std::string_view kind = in.word();
  if (kind == "port") {
    records.in_service.emplace_back(in.number<std::uint64_t>());
  } else if (kind == "subscription") {
    read_subscription(in, records);
  } else if (kind == "group") {
    read_group(in, records);
  } else if (kind == "member") {
    read_member(in, records);
  } else if (kind == "alias") {
    read_alias(in, records);
  } else if (kind == "service") {
    read_service(in, now, records);
  } else {
    in.refuse();
  }
  return in.done();
}

/// The next line of `text`, which is taken from it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// Kinds of RecordLines, in the order of the file.
enum Kind : std::uint64_t { kPort = 1, kSubscription, kAlias, kGroup, kService };

}  // namespace

std::string print_records(const ClientRecords& records, const Moment& now) {
  std::string text;
  for (const Guid port : records.in_service) text += fmt::format("port {}\n", port);
  for (const auto& [who, list] : records.subscriptions) {
    for (const sa::Subscription& each : list) text += print_subscription(who, each);
  }
  for (const auto& [port, further] : records.aliases) {
    for (std::size_t i = 1; i < further.size(); ++i) {
      if (further[i] != Guid{}) text += fmt::format("alias {} {} {}\n", port, i, further[i]);
    }
  }
  for (const Group& each : records.groups) {
    text += print_group(each);
    for (const auto& [port, member] : each.members) text += "member " + print_member(port, member);
  }
  for (const sa::Service& each : records.services) text += print_service(each, now);
  return text;
}

Parsed<ClientRecords> parse_records(std::string_view text,
                                    const std::string& file,
                                    const Moment& now) {
  ClientRecords records;
  FaultList faults(file);
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    const bool known = read_line(line, now, records);
    if (!known) faults.add(number, fmt::format("'{}' is no record of this file", line));
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return records;
}

void print_changes(const sa::SubscriptionTable::Map& all,
                   const std::set<sa::Subscriber>& changed,
                   std::string& out) {
  for (const sa::Subscriber& who : changed) {
    out += fmt::format("- subscriber {} {}\n", who.port, who.qp);
    const auto found = all.find(who);
    if (found == all.end()) continue;
    for (const sa::Subscription& each : found->second) out += "+ " + print_subscription(who, each);
  }
}

void print_changes(const std::map<sa::ServiceId, sa::Service>& all,
                   const std::set<sa::ServiceId>& changed,
                   const Moment& now,
                   std::string& out) {
  for (const sa::ServiceId& id : changed) {
    const auto found = all.find(id);
    if (found != all.end()) {
      out += "+ " + print_service(found->second, now);
    } else {
      out += fmt::format("- service 0x{:016x} 0x{:016x} {} 0x{:04x}\n",
                         id.id,
                         id.gid.prefix,
                         id.gid.guid,
                         id.p_key.value());
    }
  }
}

void print_changes(const sa::AliasTable::Map& all,
                   const std::set<Guid>& changed,
                   std::string& out) {
  for (const Guid port : changed) {
    out += fmt::format("- aliases {}\n", port);
    const auto found = all.find(port);
    if (found == all.end()) continue;
    for (std::size_t i = 1; i < found->second.size(); ++i) {
      if (found->second[i] != Guid{})
        out += fmt::format("+ alias {} {} {}\n", port, i, found->second[i]);
    }
  }
}

void print_changes(const std::map<Gid, Group>& all,
                   const std::set<Gid>& changed,
                   const std::set<std::pair<Gid, Guid>>& changed_members,
                   std::string& out) {
  const auto print = [&out](const Gid& mgid, Guid port, const Member& member) {
    out += fmt::format("+ member 0x{:016x} {} ", mgid.prefix, mgid.guid);
    out += print_member(port, member);
  };
  for (const Gid& mgid : changed) {
    out += fmt::format("- group 0x{:016x} {}\n", mgid.prefix, mgid.guid);
    const auto found = all.find(mgid);
    if (found == all.end()) continue;
    out += "+ " + print_group(found->second);
    for (const auto& [port, member] : found->second.members) print(mgid, port, member);
  }
  for (const auto& [mgid, port] : changed_members) {
    const auto group = all.find(mgid);
    if (group == all.end() || changed.contains(mgid)) continue;
    const auto member = group->second.members.find(port);
    if (member != group->second.members.end()) {
      print(mgid, port, member->second);
    } else {
      out += fmt::format("- member 0x{:016x} {} {}\n", mgid.prefix, mgid.guid, port);
    }
  }
}

void print_changes(const std::vector<Guid>& before,
                   const std::vector<Guid>& now,
                   std::string& out) {
  const auto print = [&out](const auto& from, const auto& to, char sign) {
    std::vector<Guid> ports;
    std::ranges::set_difference(to, from, std::back_inserter(ports));
    for (const Guid port : ports) out += fmt::format("{} port {}\n", sign, port);
  };
  print(now, before, '-');
  print(before, now, '+');
}

std::string shift_leases(std::string_view changes, std::int64_t ahead_ms) {
  constexpr std::string_view kServiceLine = "+ service ";
  constexpr int kBeforeExpires = 6;                     // words after those
  constexpr std::int64_t kFar = std::int64_t{1} << 60;  // no clock is so wrong
  ahead_ms = std::clamp(ahead_ms, -kFar, kFar);
  std::string out;
  while (!changes.empty()) {
    const std::string_view line = take_line(changes);
    Words in(line.substr(std::min(line.size(), kServiceLine.size())));
    for (int i = 0; i < kBeforeExpires; ++i) static_cast<void>(in.word());
    const std::string_view expires = in.word();
    std::uint64_t wall = 0;
    if (line.starts_with(kServiceLine) && expires != kNever) wall = in.parse(expires, kFar);
    if (wall == 0 || !in.ok()) {
      out += fmt::format("{}\n", line);
      continue;
    }
    const auto at = static_cast<std::size_t>(expires.data() - line.data());
    out += fmt::format("{}{}{}\n",
                       line.substr(0, at),
                       std::max<std::int64_t>(static_cast<std::int64_t>(wall) + ahead_ms, 1),
                       line.substr(at + expires.size()));
  }
  return out;
}

std::optional<RecordLines> RecordLines::read(std::string_view text) {
  RecordLines out;
  Gid group;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.find_first_not_of(' ') == std::string_view::npos) continue;
    Words in(line);
    if (in.word() == "group") group = in.gid();
    if (!out.add(line, group)) return std::nullopt;
  }
  return out;
}

/// `group`: of which a member is.
bool RecordLines::add(std::string_view record, const Gid& group) {
  // What is kept here can be read when it is needed.
  ClientRecords one;
  Words in(record);
  const std::string_view kind = in.word();
  if (kind == "member") one.groups.emplace_back();
  if (!read_line(record, {}, one)) return false;
  const auto next = [&in] { return in.number<std::uint64_t>(); };
  Key key{};
  if (kind == "port") {
    key = {kPort, next()};
  } else if (kind == "subscription") {
    key = {kSubscription, next(), next(), next()};
  } else if (kind == "alias") {
    key = {kAlias, next(), next()};
  } else if (kind == "group") {
    key = {kGroup, next(), next()};
  } else if (kind == "member") {
    if (!lines_.contains(Key{kGroup, group.prefix, group.guid.value()})) return false;
    key = {kGroup, group.prefix, group.guid.value(), 1, next()};
  } else {
    static_cast<void>(in.word());  // its owner
    key = {kService, next(), next(), next(), next()};
  }
  lines_[key] = fmt::format("{}\n", record);
  return true;
}

bool RecordLines::remove(std::string_view line) {
  Words in(line);
  const std::string_view what = in.word();
  const auto next = [&in] { return in.number<std::uint64_t>(); };
  Key first{};
  std::size_t named = 0;  // words of the key that the line names
  if (what == "port") {
    first = {kPort, next()};
    named = 2;
  } else if (what == "subscriber") {
    first = {kSubscription, next(), next()};
    named = 3;
  } else if (what == "aliases") {
    first = {kAlias, next()};
    named = 2;
  } else if (what == "group") {
    first = {kGroup, next(), next()};
    named = 3;
  } else if (what == "member") {
    first = {kGroup, next(), next(), 1, next()};
    named = 5;
  } else if (what == "service") {
    first = {kService, next(), next(), next(), next()};
    named = 5;
  } else {
    return false;
  }
  if (!in.done()) return false;
  Key last = first;
  std::fill(last.begin() + static_cast<std::ptrdiff_t>(named), last.end(), UINT64_MAX);
  lines_.erase(lines_.lower_bound(first), lines_.upper_bound(last));
  return true;
}

std::size_t RecordLines::apply(std::string_view changes) {
  constexpr std::string_view kMember = "+ member ";
  std::size_t done = 0;
  while (!changes.empty()) {
    const std::string_view line = take_line(changes);
    bool good = false;
    if (line.starts_with(kMember)) {
      Words in(line.substr(kMember.size()));
      const Gid group = in.gid();
      good = in.ok() && add("member" + std::string(in.rest()), group);
    } else if (line.starts_with("+ ")) {
      good = add(line.substr(2), {});
    } else if (line.starts_with("- ")) {
      good = remove(line.substr(2));
    }
    if (!good) break;
    ++done;
  }
  return done;
}

std::string RecordLines::print() const {
  std::string text;
  for (const auto& [key, line] : lines_) text += line;
  return text;
}

}  // namespace smd
