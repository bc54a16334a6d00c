#include "smd/state/state_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "smd/base/fault_list.h"
#include "smd/base/log.h"
#include "smd/state/record_store.h"
#include "smd/state/state_directory.h"

namespace smd {

namespace {

constexpr std::uint64_t kMostPort = 254;

/// Of a longer one the loop would feel that it is read once more.
constexpr std::size_t kMostReadBack = std::size_t{1} << 16;

constexpr std::uint64_t kMostCells = 1u << 24;  // of a lattice

std::optional<std::uint64_t> parse_whole(std::string_view word, int base, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error != std::errc{} || end != word.data() + word.size() || value > most) return std::nullopt;
  return value;
}

std::optional<TurnRef> parse_turn(const std::string& line) {
  std::istringstream words(line);
  std::string guid;
  std::string in;
  std::string out;
  std::string more;
  if (!(words >> guid >> in >> out) || (words >> more) || !guid.starts_with("0x"))
    return std::nullopt;
  const auto node = parse_whole(std::string_view(guid).substr(2), 16, ~std::uint64_t{0});
  const auto from = parse_whole(in, 10, 254);
  const auto to = parse_whole(out, 10, 254);
  if (!node || *node == 0 || !from || !to) return std::nullopt;
  return TurnRef{Guid{*node},
                 PortNum{static_cast<std::uint8_t>(*from)},
                 PortNum{static_cast<std::uint8_t>(*to)}};
}

std::optional<std::pair<Guid, std::uint32_t>> parse_rank(const std::string& line) {
  std::istringstream words(line);
  std::string guid, rank, more;
  if (!(words >> guid >> rank) || (words >> more) || !guid.starts_with("0x")) return std::nullopt;
  const auto node = parse_whole(std::string_view(guid).substr(2), 16, ~std::uint64_t{0});
  const auto value = parse_whole(rank, 10, ~std::uint32_t{0});
  if (!node || *node == 0 || !value) return std::nullopt;
  return std::pair{Guid{*node}, static_cast<std::uint32_t>(*value)};
}

/// "dor ring:8 line:4".
std::optional<LatticeRecord> parse_shape(const std::string& line) {
  std::istringstream words(line);
  LatticeRecord lattice;
  if (!(words >> lattice.engine)) return std::nullopt;
  std::uint64_t cells = 1;
  for (std::string word; words >> word;) {
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string_view kind = std::string_view(word).substr(0, colon);
    const std::string_view digits = std::string_view(word).substr(std::min(colon + 1, word.size()));
    const auto side = parse_whole(digits, 10, kMostCells);
    const bool is_full = kind == "full";
    if (!side || *side == 0 || (!is_full && kind != "ring" && kind != "line")) return std::nullopt;
    if ((cells *= *side) > kMostCells) return std::nullopt;
    lattice.sides.push_back(static_cast<std::uint32_t>(*side));
    if (!is_full) lattice.wraps.push_back(kind == "ring");
  }
  const bool is_whole = lattice.wraps.empty() || lattice.wraps.size() == lattice.sides.size();
  if (lattice.sides.empty() || !is_whole) return std::nullopt;
  return lattice;
}

std::optional<std::pair<Guid, std::uint32_t>> parse_place(const std::string& line,
                                                          const LatticeRecord& lattice) {
  std::istringstream words(line);
  std::string word;
  if (!(words >> word) || !word.starts_with("0x")) return std::nullopt;
  const auto node = parse_whole(std::string_view(word).substr(2), 16, ~std::uint64_t{0});
  if (!node || *node == 0) return std::nullopt;
  std::uint32_t cell = 0;
  for (const std::uint32_t side : lattice.sides) {
    const auto coordinate = words >> word ? parse_whole(word, 10, side - 1) : std::nullopt;
    if (!coordinate) return std::nullopt;
    cell = cell * side + static_cast<std::uint32_t>(*coordinate);
  }
  if (words >> word) return std::nullopt;
  return std::pair{Guid{*node}, cell};
}

std::optional<KeyPort> parse_m_key_port(std::istringstream& words) {
  std::string node, port, number, kind;
  if (!(words >> node >> port >> number >> kind)) return std::nullopt;
  const auto guid = [](std::string_view word) {
    return word.starts_with("0x") ? parse_whole(word.substr(2), 16, ~std::uint64_t{0})
                                  : std::nullopt;
  };
  const auto of = guid(node), key = guid(port), at = parse_whole(number, 10, kMostPort);
  if (!of || *of == 0 || !key || !at || (kind != "switch" && kind != "end")) return std::nullopt;
  return KeyPort{.node = Guid{*of},
                 .port = Guid{*key},
                 .number = PortNum{static_cast<std::uint8_t>(*at)},
                 .is_switch = kind == "switch"};
}

std::optional<KeyLink> parse_m_key_link(const std::string& line) {
  std::istringstream words(line);
  const auto one = parse_m_key_port(words);
  const auto other = one ? parse_m_key_port(words) : std::nullopt;
  std::string more;
  if (!other || words >> more) return std::nullopt;
  return KeyLink{*one, *other};
}

std::optional<cc::CcKey> parse_key(const std::string& word) {
  if (!word.starts_with("0x")) return std::nullopt;
  const auto value = parse_whole(std::string_view(word).substr(2), 16, ~std::uint64_t{0});
  if (!value || *value == 0) return std::nullopt;
  return cc::CcKey{*value};
}

/// What `parse` makes of each line that is not blank; `complain` says what is wrong with the
/// others.
template <class Parse, class Complain>
auto parse_lines(std::string_view text, const std::string& file, Parse parse, Complain complain)
    -> Parsed<std::vector<typename decltype(parse(std::string{}))::value_type>> {
  std::vector<typename decltype(parse(std::string{}))::value_type> values;
  FaultList faults(file);
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (const auto value = parse(line)) {
      values.push_back(*value);
    } else {
      faults.add(number, complain(line));
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return values;
}

}  // namespace

std::string print_turns(const std::vector<TurnRef>& turns) {
  std::string text;
  for (const TurnRef& turn : turns)
    fmt::format_to(
        std::back_inserter(text), "{} {} {}\n", turn.node, turn.in.value(), turn.out.value());
  return text;
}

Parsed<std::vector<TurnRef>> parse_turns(std::string_view text, const std::string& file) {
  return parse_lines(text, file, parse_turn, [](const std::string& line) {
    return fmt::format(
        "'{}' is no turn; a line is SWITCH_GUID IN OUT, as in "
        "0x0002c90300000001 3 7",
        line);
  });
}

std::string print_m_key_links(const std::vector<KeyLink>& links) {
  std::string text;
  const auto print = [&](const KeyPort& end, char last) {
    fmt::format_to(std::back_inserter(text),
                   "{} {} {} {}{}",
                   end.node,
                   end.port,
                   end.number,
                   end.is_switch ? "switch" : "end",
                   last);
  };
  const auto can_be = [](const KeyPort& end) {
    return end.node != Guid{} && end.number.value() <= kMostPort;
  };
  for (const auto& [one, other] : links) {
    if (!can_be(one) || !can_be(other)) continue;  // else the whole file would be refused
    print(one, ' ');
    print(other, '\n');
  }
  return text;
}

Parsed<std::vector<KeyLink>> parse_m_key_links(std::string_view text, const std::string& file) {
  return parse_lines(text, file, parse_m_key_link, [](const std::string& line) {
    return fmt::format("'{}' is no link; a line is twice NODE PORT_GUID NUMBER switch|end", line);
  });
}

std::string print_directions(const SwitchRanks& ranks) {
  std::string text;
  for (const auto& [guid, rank] : ranks)
    fmt::format_to(std::back_inserter(text), "{} {}\n", guid, rank);
  return text;
}

Parsed<SwitchRanks> parse_directions(std::string_view text, const std::string& file) {
  Guid last;
  return parse_lines(
      text,
      file,
      [&last](const std::string& line) {
        const auto rank = parse_rank(line);
        return rank && rank->first > std::exchange(last, rank->first) ? rank : std::nullopt;
      },
      [](const std::string& line) {
        return fmt::format(
            "'{}' is no rank; a line is SWITCH_GUID RANK, as in 0x0002c90300000001 3, the GUIDs "
            "ascending",
            line);
      });
}

std::string print_lattice(const LatticeRecord& lattice) {
  if (lattice.engine.empty()) return "";
  std::string text = lattice.engine;
  for (std::size_t d = 0; d < lattice.sides.size(); ++d) {
    const char* const kind = lattice.wraps.empty() ? "full" : lattice.wraps[d] ? "ring" : "line";
    fmt::format_to(std::back_inserter(text), " {}:{}", kind, lattice.sides[d]);
  }
  text += '\n';
  std::vector<std::uint32_t> place(lattice.sides.size());
  for (const auto& [guid, cell] : lattice.cells) {
    std::uint32_t rest = cell;
    for (std::size_t d = place.size(); d-- > 0; rest /= lattice.sides[d])
      place[d] = rest % lattice.sides[d];
    fmt::format_to(std::back_inserter(text), "{} {}\n", guid, fmt::join(place, " "));
  }
  return text;
}

Parsed<LatticeRecord> parse_lattice(std::string_view text, const std::string& file) {
  LatticeRecord lattice;
  FaultList faults(file);
  std::set<std::uint32_t> taken;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (lattice.engine.empty()) {
      auto shape = parse_shape(line);
      if (!shape) {
        faults.add(number,
                   fmt::format("'{}' is no lattice; the first line is ENGINE KIND:SIDE..., as in "
                               "dor ring:8 line:4",
                               line));
        break;
      }
      lattice = std::move(*shape);
      continue;
    }
    const auto place = parse_place(line, lattice);
    const bool rises =
        place && (lattice.cells.empty() || place->first > lattice.cells.back().first);
    if (rises && taken.insert(place->second).second) {
      lattice.cells.push_back(*place);
    } else {
      faults.add(number,
                 fmt::format("'{}' is no place of its own in the lattice; a line is SWITCH_GUID "
                             "COORDINATE..., the GUIDs ascending",
                             line));
    }
  }
  if (!faults.empty()) return tl::unexpected(faults.take());
  return lattice;
}

std::string print_cc_keys(const std::vector<cc::CcKey>& keys) {
  std::string text;
  for (const cc::CcKey key : keys) text += fmt::format("0x{:016x}\n", key.value());
  return text;
}

Parsed<std::vector<cc::CcKey>> parse_cc_keys(std::string_view text, const std::string& file) {
  return parse_lines(text, file, parse_key, [](const std::string&) {
    return std::string("no key; a line is one, as in 0x0000000000000022");
  });
}

namespace {

template <class Value>
Faults take(Parsed<Value> parsed, Value& into) {
  if (!parsed) return std::move(parsed.error());
  into = std::move(*parsed);
  return {};
}

}  // namespace

constinit const StateKind StateKind::kLids{
    "lids",
    "LIDs will not survive a restart",
    [](const PersistentState& state) { return print_lid_book(state.lids); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_lid_book(text, file), state.lids);
    }};

constinit const StateKind StateKind::kTurns{
    "turns",
    "after a restart, blocked turns stay blocked",
    [](const PersistentState& state) { return print_turns(state.turns); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_turns(text, file), state.turns);
    }};

constinit const StateKind StateKind::kSlToVlMark{
    "rows",
    "after a restart with another engine, SL-to-VL rows stay as they are",
    [](const PersistentState& state) {
      return std::string(state.sl_to_vl_mark ? "set by routes\n" : "");
    },
    [](std::string_view text, const std::string&, PersistentState& state) {
      // Another manager may know nothing of what was set in our own time.
      state.sl_to_vl_mark |= !text.empty();
      return Faults{};
    }};

constinit const StateKind StateKind::kCcKeys{
    "cc_keys",
    "after a restart with another cc_key, agents stay under this one",
    [](const PersistentState& state) { return print_cc_keys(state.cc_keys); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_cc_keys(text, file), state.cc_keys);
    }};

constinit const StateKind StateKind::kPartitionOrders{
    "partition_orders",
    "after a restart, partitions are as before the order",
    [](const PersistentState& state) { return print_partition_orders(state.partitions); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_partition_orders(text, file), state.partitions);
    }};

constinit const StateKind StateKind::kMKeyLinks{
    "m_key_links",
    "after a restart, ports that answer nobody without their M_Key may not be found",
    [](const PersistentState& state) { return print_m_key_links(state.m_key_links); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_m_key_links(text, file), state.m_key_links);
    }};

constinit const StateKind StateKind::kDirections{
    "directions",
    "after a restart, a host that comes up may move routes of others",
    [](const PersistentState& state) { return print_directions(state.directions); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_directions(text, file), state.directions);
    }};

constinit const StateKind StateKind::kLattice{
    "lattice",
    "after a restart, the first change may move most routes of a regular fabric",
    [](const PersistentState& state) { return print_lattice(state.lattice); },
    [](std::string_view text, const std::string& file, PersistentState& state) {
      return take(parse_lattice(text, file), state.lattice);
    }};

constinit const StateKind StateKind::kClientRecords{
    "records", "what clients leave with us does not survive a restart", nullptr, nullptr};

namespace {

/// Routes are as good without it: no reason to leave a fabric without its manager.
bool is_hint(const StateKind& kind) {
  return kind == StateKind::kDirections || kind == StateKind::kLattice;
}

}  // namespace

Parsed<PersistentState> load_state(const std::string& state_dir) {
  RetryDisk disk(state_dir);
  return load_state(disk, state_dir);
}

Parsed<PersistentState> load_state(StateDisk& disk, const std::string& state_dir) {
  PersistentState state;
  Faults faults;
  for (const StateKind* kind : {&StateKind::kLids,
                                &StateKind::kTurns,
                                &StateKind::kSlToVlMark,
                                &StateKind::kCcKeys,
                                &StateKind::kPartitionOrders,
                                &StateKind::kMKeyLinks,
                                &StateKind::kDirections,
                                &StateKind::kLattice}) {
    const std::string name(kind->name);
    const std::string where = state_path(state_dir, name);
    auto file = disk.read(name);
    if (!file && file.error().code == Errc::Io && !is_hint(*kind)) {
      throw UnreadableState(
          fmt::format("{}: {}; it may be whole, so smd does not start: let it be readable, or move "
                      "it away and do without what it has",
                      where,
                      file.error().context));
    }
    const auto text = read_state(disk, name, where, std::move(file));
    const Faults found = text ? kind->parse(*text, where, state) : text.error();
    if (!found.empty() && is_hint(*kind)) {
      log::warn("state.put_aside",
                "why=\"{}\" now={}.damaged; {}",
                print_fault(found.front()),
                where,
                kind->loss);
      set_aside(state_dir, kind->name);
      continue;
    }
    faults.insert(faults.end(), found.begin(), found.end());
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return state;
}

Result<void> save_state_text(const std::string& state_dir,
                             const StateKind& kind,
                             const std::string& text) {
  PersistentState scratch;
  if (const Faults faults = kind.parse(text, std::string(kind.name), scratch); !faults.empty())
    return fail(
        Errc::Malformed,
        "the next start would refuse it, so what was there stays: " + print_fault(faults.front()));
  return write_state(state_dir, kind.name, text);
}

Result<void> save_state(const std::string& state_dir,
                        const PersistentState& state,
                        const StateKind& kind) {
  const std::string text = kind.print(state);
  if (text.size() <= kMostReadBack) return save_state_text(state_dir, kind, text);
  return write_state(state_dir, kind.name, text);
}

StateStore::StateStore(PersistentState kept)
    : state_(std::move(kept)),
      records_(
          std::make_unique<RecordStore>([this] { changed_.emit(StateKind::kClientRecords); })) {}

StateStore::~StateStore() = default;

void StateStore::load(PersistentState kept, ClientRecords left) {
  state_ = std::move(kept);
  records_->load(std::move(left));
}

Faults StateStore::put_text(const StateKind& kind, std::string_view text, const std::string& file) {
  PersistentState next = state_;
  Faults faults = kind.parse(text, file, next);
  if (!faults.empty() || next == state_) return faults;
  state_ = std::move(next);
  changed_.emit(kind);
  return {};
}

}  // namespace smd
