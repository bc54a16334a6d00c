// Numbers and addresses of the partition file.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "smd/base/fault_list.h"
#include "smd/base/text.h"
#include "smd/policy/partition_file.h"

namespace smd::partition_text {
namespace {

constexpr std::size_t kMostFaults = 20;

/// `name=value`; the value is absent where there is no '='.
struct Word {
  std::string_view name;
  std::optional<std::string_view> value;
};

Word split_word(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {trim(text), std::nullopt};
  return {trim(text.substr(0, equals)), trim(text.substr(equals + 1))};
}

/// "full", or what OpenSM takes for it: any beginning of the word.
std::optional<Membership> read_membership(std::string_view word) {
  if (word.empty()) return std::nullopt;
  if (std::string_view("full").starts_with(word)) return Membership::Full;
  if (std::string_view("limited").starts_with(word)) return Membership::Limited;
  if (std::string_view("both").starts_with(word)) return Membership::Both;
  return std::nullopt;
}

constexpr std::array<std::string_view, 3> kMemberships{"full", "limited", "both"};

constexpr std::array<std::string_view, 5> kKeywords{
    "ALL", "ALL_CAS", "ALL_SWITCHES", "ALL_ROUTERS", "SELF"};

std::optional<MemberKind> read_keyword(std::string_view word) {
  constexpr std::array<MemberKind, kKeywords.size()> kKinds{MemberKind::All,
                                                            MemberKind::AllCas,
                                                            MemberKind::AllSwitches,
                                                            MemberKind::AllRouters,
                                                            MemberKind::Self};
  const auto found = std::ranges::find(kKeywords, word);
  if (found == kKeywords.end()) return std::nullopt;
  return kKinds[static_cast<std::size_t>(found - kKeywords.begin())];
}

constexpr std::array<std::string_view, 10> kFlags{
    "ipoib", "indx0", "defmember", "rate", "mtu", "sl", "scope", "Q_Key", "TClass", "FlowLabel"};
constexpr std::span<const std::string_view> kGroupFlags = std::span(kFlags).subspan(3);

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void take_line(std::string_view text, int line) {
    line_ = line;
    text_ = text;
    text = text.substr(0, text.find('#'));
    while (!trim(text).empty()) {
      const std::size_t end = text.find(';');
      take_part(text.substr(0, end));
      if (end == std::string_view::npos) break;
      text.remove_prefix(end + 1);
      if (!open_ && !header_.empty()) {
        fault({}, fmt::format("'{}' has no ':'; NAME=0x…: MEMBERS;", trim(header_)));
        header_.clear();
      }
      open_ = false;
    }
  }

  Parsed<std::vector<Definition>> finish() && {
    if (!open_ && !header_.empty()) {
      line_ = header_line_;
      fault({}, fmt::format("'{}' has no ':'; NAME=0x…: MEMBERS;", trim(header_)));
    }
    sort_by_place(faults_);
    if (!faults_.empty()) return tl::unexpected(std::move(faults_));
    return std::move(definitions_);
  }

 private:
  void take_part(std::string_view text) {
    if (!open_) {
      const std::size_t colon = text.find(':');
      if (header_.empty()) {
        header_line_ = line_;
        header_column_ = column_of(text_, text);
      }
      header_ += std::string(text.substr(0, colon)) + ' ';
      if (colon == std::string_view::npos) {
        // A remark or a line end within a definition's head is a blank.
        if (trim(header_).empty()) header_.clear();
        return;
      }
      take_header();
      text.remove_prefix(colon + 1);
      open_ = true;
    }
    take_members(text);
  }

  void take_header() {
    Definition& definition = definitions_.emplace_back();
    definition.line = header_line_;
    default_ = Membership::Limited;
    first_ = false;
    taken_header_ = std::exchange(header_, {});
    bool is_first = true;
    for_each_word(taken_header_, [&](const Word& word, std::string_view) {
      if (std::exchange(is_first, false)) {
        take_name(word);
      } else {
        take_flag(word);
      }
      return true;
    });
  }

  void take_name(const Word& word) {
    Definition& definition = definitions_.back();
    const bool only_key =
        !word.value && !word.name.empty() && word.name.front() >= '0' && word.name.front() <= '9';
    if (!only_key) definition.name = word.name;
    if (!only_key && !word.value) return;
    const std::string_view key = only_key ? word.name : *word.value;
    const auto number = read_number(key);
    if (!number || *number > 0xffff) {
      return fault(
          key, fmt::format("'{}' is no P_Key; 0x0001 to 0x7fff, or none to have one chosen", key));
    }
    definition.key = static_cast<std::uint16_t>(*number);
  }

  void take_flag(const Word& word) {
    Definition& definition = definitions_.back();
    if (word.name == "ipoib" && !word.value) {
      definition.ipoib = true;
    } else if (word.name == "indx0" && !word.value) {
      first_ = true;
    } else if (word.name == "defmember") {
      take_default(word.value.value_or(word.name.substr(word.name.size())));
    } else if (!take_group_flag(word, definition.flags)) {
      fault(word.name,
            fmt::format("no flag '{}'; {}ipoib, indx0, defmember=, rate=, mtu=, sl=, scope=, "
                        "Q_Key=, TClass=, FlowLabel=",
                        word.name,
                        name_nearest(word.name, kFlags)));
    }
  }

  void take_default(std::string_view word) {
    const auto membership = read_membership(word);
    if (!membership) return fault(word, no_membership(word));
    default_ = *membership;
  }

  /// False when it is no flag of groups.
  bool take_group_flag(const Word& word, GroupFlags& flags) {
    if (word.name == "rate") {
      take_number(word, 2, 24, [&](auto n) { flags.rate = static_cast<std::uint8_t>(n); });
    } else if (word.name == "mtu") {
      take_number(word, 1, 5, [&](auto n) { flags.mtu = static_cast<std::uint8_t>(n); });
    } else if (word.name == "sl") {
      take_number(word, 0, 15, [&](auto n) { flags.sl = static_cast<std::uint8_t>(n); });
    } else if (word.name == "scope") {
      take_number(
          word, 1, 15, [&](auto n) { flags.scopes |= static_cast<std::uint16_t>(1u << n); });
    } else if (word.name == "Q_Key") {
      take_number(
          word, 0, 0xffffffff, [&](auto n) { flags.q_key = static_cast<std::uint32_t>(n); });
    } else if (word.name == "TClass") {
      take_number(word, 0, 0xff, [&](auto n) { flags.tclass = static_cast<std::uint8_t>(n); });
    } else if (word.name == "FlowLabel") {
      take_number(
          word, 0, 0xfffff, [&](auto n) { flags.flow_label = static_cast<std::uint32_t>(n); });
    } else {
      return false;
    }
    return true;
  }

  template <class Apply>
  void take_number(const Word& word, std::uint64_t min, std::uint64_t max, Apply apply) {
    const auto number = read_number(word.value.value_or(""));
    if (number && *number >= min && *number <= max) return apply(*number);
    fault(
        word.name,
        fmt::format("{}={}; a number from {} to {}", word.name, word.value.value_or(""), min, max));
  }

  void take_members(std::string_view text) {
    for_each_word(text, [&](const Word& word, std::string_view rest) {
      if (word.name != "mgid") {
        take_member(word);
        return true;
      }
      take_group(word, rest);
      return false;
    });
  }

  void take_member(Word word) {
    // "defmember=full : PORT": so it stands in OpenSM's own manual.
    if (word.name == "defmember" && word.value && word.value->find(':') != std::string_view::npos) {
      const std::size_t colon = word.value->find(':');
      take_default(trim(word.value->substr(0, colon)));
      word = split_word(word.value->substr(colon + 1));
    }
    if (word.name.empty() || word.name == "NONE") return;
    PartitionMember member{.membership = default_, .first = first_};
    if (const auto keyword = read_keyword(word.name)) {
      member.kind = *keyword;
    } else {
      const auto guid = read_number(word.name);
      if (!guid || *guid == 0) return fault(word.name, no_member(word.name));
      member.kind = MemberKind::Port;
      member.guid = Guid{*guid};
    }
    if (word.value) {
      const auto membership = read_membership(*word.value);
      if (!membership) return fault(*word.value, no_membership(*word.value));
      member.membership = *membership;
    }
    definitions_.back().members.push_back({line_, member});
  }

  void take_group(const Word& word, std::string_view flags) {
    Group group{.line = line_, .mgid = {}, .flags = {}};
    const auto gid = read_gid(word.value.value_or(""));
    if (!gid || gid->prefix >> 56 != 0xff) {
      fault(word.value.value_or(word.name),
            fmt::format("'{}' is no multicast GID; one such as ff12:401b::16",
                        word.value.value_or("")));
    } else {
      group.mgid = *gid;
    }
    for_each_word(flags, [&](const Word& flag, std::string_view) {
      if (!flag.name.empty() && !take_group_flag(flag, group.flags)) {
        fault(flag.name,
              fmt::format("no flag '{}' of a group; {}rate=, mtu=, sl=, scope=, Q_Key=, TClass=, "
                          "FlowLabel=, or ports on a line of their own",
                          flag.name,
                          name_nearest(flag.name, kGroupFlags)));
      }
      return true;
    });
    definitions_.back().groups.push_back(group);
  }

  /// `take(word, what stands behind its comma)` until it says no.
  template <class Take>
  static void for_each_word(std::string_view text, Take take) {
    for (;;) {
      const std::size_t comma = text.find(',');
      const std::string_view rest =
          comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
      if (!take(split_word(text.substr(0, comma)), rest)) return;
      if (comma == std::string_view::npos) return;
      text = rest;
    }
  }

  static std::string no_membership(std::string_view word) {
    return fmt::format(
        "no membership '{}'; {}full, limited or both", word, name_nearest(word, kMemberships));
  }

  std::string no_member(std::string_view word) const {
    return fmt::format(
        "'{}' is no port; {}a GUID such as 0x0002c90300000001, ALL, ALL_CAS, ALL_SWITCHES, "
        "ALL_ROUTERS or SELF, or ';' at the end of the definition that begins in line {}",
        word,
        name_nearest(word, kKeywords),
        definitions_.back().line);
  }

  /// Of a word of the line at hand or of a head that began in it.
  void fault(std::string_view word, std::string message) {
    if (faults_.size() >= kMostFaults) return;
    int column = word.data() == nullptr ? 0 : column_of(text_, word);
    const int in_head = word.data() == nullptr ? 0 : column_of(taken_header_, word);
    if (in_head != 0 && header_line_ == line_) column = header_column_ + in_head - 1;
    faults_.push_back({file_, line_, std::move(message), column});
  }

  const std::string& file_;
  int line_ = 0;
  std::string_view text_;  // of the line, remarks included
  std::string header_;     // of the definition that begins, as far as it was read
  std::string taken_header_;
  int header_line_ = 0;
  int header_column_ = 0;
  bool open_ = false;  // the header is complete: members follow, up to ';'
  Membership default_ = Membership::Limited;
  bool first_ = false;
  std::vector<Definition> definitions_;
  Faults faults_;
};

}  // namespace

std::optional<std::uint64_t> read_number(std::string_view word) {
  int base = 10;
  if (word.starts_with("0x") || word.starts_with("0X")) {
    base = 16;
    word.remove_prefix(2);
  } else if (word.size() > 1 && word.front() == '0') {
    base = 8;
  }
  std::uint64_t number = 0;
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, number, base);
  if (word.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<Gid> read_gid(std::string_view word) {
  std::array<std::uint16_t, 8> head{};
  std::array<std::uint16_t, 8> tail{};
  std::size_t heads = 0;
  std::size_t tails = 0;
  bool gap = false;
  if (word.starts_with("::")) {
    gap = true;
    word.remove_prefix(2);
  }
  while (!word.empty()) {
    unsigned group = 0;
    const char* end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, group, 16);
    if (error != std::errc{} || group > 0xffff || stop - word.data() > 4) return std::nullopt;
    if (heads + tails == 8) return std::nullopt;
    (gap ? tail[tails++] : head[heads++]) = static_cast<std::uint16_t>(group);
    word.remove_prefix(static_cast<std::size_t>(stop - word.data()));
    if (word.empty()) break;
    if (word.starts_with("::")) {
      if (gap) return std::nullopt;
      gap = true;
      word.remove_prefix(2);
    } else if (word.front() == ':' && word.size() > 1) {
      word.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  if (gap ? heads + tails > 7 : heads != 8) return std::nullopt;
  for (std::size_t i = 0; i < tails; ++i) head[8 - tails + i] = tail[i];
  const auto half = [&head](std::size_t from) {
    std::uint64_t bits = 0;
    for (std::size_t i = from; i < from + 4; ++i) bits = bits << 16 | head[i];
    return bits;
  };
  return Gid{half(0), Guid{half(4)}};
}

Parsed<std::vector<Definition>> read_definitions(std::string_view text, const std::string& file) {
  Reader reader(file);
  int line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.take_line(text.substr(0, end), ++line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).finish();
}

}  // namespace smd::partition_text
