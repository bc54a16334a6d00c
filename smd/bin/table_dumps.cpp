#include "smd/bin/table_dumps.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sim-backend/topology/cursor.h"
#include "smd/bin/text_lines.h"

namespace smd::bin {
namespace {

using sim::Cursor;
using sim::trim;

constexpr std::uint64_t kPermissivePort = 255;

class LftReader {
 public:
  LftReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<LftDump> run() {
    while (!lines_.full() && lines_.next()) read_line(lines_.text());
    end_table();
    if (lines_.faults().empty() && dump_.switches.empty()) {
      lines_.add_fault_at(0,
                          "no forwarding tables; the output of dump_fts or OpenSM's "
                          "opensm-lfts.dump begins with \"Unicast lids [0x0-0x11] of switch …\"");
    }
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(dump_);
  }

 private:
  void read_line(std::string_view line) {
    Cursor in(line);
    in.skip_space();
    if (in.at_end() || in.eat("Lid ") || in.eat("Port ") || in.eat('#') || in.eat("***")) return;
    if (in.eat("Unicast lids")) return begin_table(in);
    if (in.eat("Multicast mlids")) {
      lines_.add_fault("multicast tables; unicast ones come from dump_fts without -M");
      return;
    }
    if (in.rest().starts_with("0x")) return read_entry(in);
    read_footer(in);
  }

  // " [0x0-0x11] of switch DR path slid 0; dlid 0; 0,1 guid 0x0002000000000000 (sw-0-0):"
  // " [0-17] of switch Lid 3 guid 0x0002000000000000 ('sw-0-0'):"
  void begin_table(Cursor in) {
    end_table();
    open_ = false;
    in.skip_space();
    const bool bracket = in.eat('[');
    const auto first = in.number();
    const bool dash = in.eat('-');
    const auto last = in.number();
    const std::size_t guid_at = in.rest().find(" guid ");
    if (!bracket || !first || !dash || !last || !in.eat("] of switch ") ||
        guid_at == std::string_view::npos) {
      return lines_.add_fault(kHeading);
    }
    if (*last > kTopUnicastLid.value()) {
      return lines_.add_fault(
          fmt::format("LIDs up to {}; unicast LIDs end at {}", *last, kTopUnicastLid));
    }
    DumpedSwitch table{.line = lines_.number(), .top = Lid{static_cast<std::uint16_t>(*last)}};
    in.skip_space();
    if (in.eat("Lid ")) {
      const auto lid = in.number();
      if (!lid || *lid > kTopUnicastLid.value()) return lines_.add_fault(kHeading);
      table.lid = Lid{static_cast<std::uint16_t>(*lid)};
    }
    Cursor tail(in.rest().substr(std::min(in.rest().find(" guid "), in.rest().size())));
    tail.eat(" guid ");
    const auto guid = tail.hex();
    if (!guid || *guid == 0) return lines_.add_fault(kHeading);
    table.guid = Guid{*guid};
    const auto [known, is_new] = seen_.emplace(table.guid, table.line);
    if (!is_new) {
      return lines_.add_fault(fmt::format(
          "switch {} again after line {}; every switch has one table", table.guid, known->second));
    }
    dump_.switches.push_back(std::move(table));
    open_ = in_table_ = true;
    listed_ = 0;
    latest_.reset();
  }

  // "0x0001 003 : (Channel Adapter portguid 0x…: 'host')", "0x0001 003 # Switch portguid 0x…:
  // 'sw'", "0x0002 004 : (path #2 out of 2: portguid 0x…)", "0x0003 255 : (illegal port)", "0x0001
  // 003"
  void read_entry(Cursor in) {
    if (!in_table_) {
      if (open_)
        lines_.add_fault("an entry outside a table; \"Unicast lids […] of switch …\" comes first");
      return;
    }
    const auto lid = in.number();
    in.skip_space();
    const auto port = in.number();
    const bool blank = in.at_end() || in.rest().starts_with(' ') || in.rest().starts_with('\t');
    if (!lid || !port || *port > kPermissivePort || !blank) {
      return lines_.add_fault("an entry is a LID and a port from 0 to 255: 0x0001 003");
    }
    if (*lid > kTopUnicastLid.value()) {
      return lines_.add_fault(
          fmt::format("LID 0x{:x}; unicast LIDs end at 0x{:x}", *lid, kTopUnicastLid.value()));
    }
    if (latest_ && *lid <= *latest_) {
      return lines_.add_fault(
          fmt::format("LID 0x{:x} after 0x{:x}; the LIDs of a table ascend", *lid, *latest_));
    }
    latest_ = *lid;
    ++listed_;
    const Lid destination{static_cast<std::uint16_t>(*lid)};
    const std::string_view rest = in.rest();
    read_owner(destination, rest);
    if (*port == kPermissivePort || rest.find("illegal port)") != std::string_view::npos) return;
    dump_.switches.back().entries.push_back(
        {destination, PortNum{static_cast<std::uint8_t>(*port)}});
  }

  void read_owner(Lid lid, std::string_view rest) {
    constexpr std::string_view kWord = "portguid ";
    const std::size_t at = rest.find(kWord);
    if (at == std::string_view::npos) return;
    const auto guid = Cursor(rest.substr(at + kWord.size())).hex();
    if (!guid || *guid == 0) return lines_.add_fault("a port GUID looks like 0x0002c90300000001");
    if (dump_.owners.size() <= lid.value()) dump_.owners.resize(lid.value() + std::size_t{1});
    DumpedOwner& owner = dump_.owners[lid.value()];
    if (owner.port_guid == Guid{}) {
      owner = {Guid{*guid}, lines_.number()};
    } else if (owner.port_guid != Guid{*guid}) {
      lines_.add_fault(fmt::format(
          "LID 0x{:x} is port {} here but {} in line {}; dump the tables while nothing changes",
          lid.value(),
          Guid{*guid},
          owner.port_guid,
          owner.line));
    }
  }

  // "17 valid lids dumped", and OpenSM's "17 lids dumped", which counts other things.
  void read_footer(Cursor in) {
    const auto count = in.number();
    in.skip_space();
    const bool valid = in.eat("valid ");
    if (!count || trim(in.rest()) != "lids dumped") {
      return lines_.add_fault(
          fmt::format("\"{}\" is no line of a forwarding table", shorten(trim(lines_.text()))));
    }
    if (in_table_ && valid && *count != listed_) {
      lines_.add_fault(fmt::format(
          "{} LIDs announced, {} listed: lines are missing or doubled", *count, listed_));
    }
    in_table_ = false;
  }

  void end_table() {
    if (!in_table_) return;
    in_table_ = false;
    lines_.add_fault_at(dump_.switches.back().line,
                        "the table that begins here does not end with \"… lids dumped\": the file "
                        "is cut");
  }

  static constexpr const char* kHeading =
      "a table begins with: Unicast lids [0x0-0x11] of switch … guid 0x0002c90300000001 (name):";

  TextLines lines_;
  LftDump dump_;
  std::unordered_map<Guid, int> seen_;  // line of the heading; look-ups only
  bool open_ = true;  // false: the heading had a fault, and its entries say nothing
  bool in_table_ = false;
  std::optional<std::uint64_t> latest_;  // LID in this table
  std::uint64_t listed_ = 0;
};

}  // namespace

Parsed<LftDump> parse_lft_dump(std::string_view text, const std::string& file) {
  return LftReader(text, file).run();
}

namespace {

class SlToVlReader {
 public:
  SlToVlReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedSlToVl>> run() {
    while (!lines_.full() && lines_.next()) read_line(lines_.text());
    if (lines_.faults().empty() && switches_.empty()) {
      lines_.add_fault_at(0,
                          "no SL-to-VL tables; OpenSM's opensm-sl2vl.dump has lines like Switch "
                          "0x0002c90300000001, base LID 3, \"name\"");
    }
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(switches_);
  }

 private:
  enum class Inside : std::uint8_t { Nothing, Switch, Other };

  void read_line(std::string_view line) {
    Cursor in(line);
    in.skip_space();
    if (in.at_end() || in.eat('#')) return;
    if (in.eat("Switch ")) return begin_switch(in);
    if (in.eat("Channel Adapter ") || in.eat("Router ")) {
      inside_ = Inside::Other;
      return;
    }
    read_row(in);
  }

  // "0x0002000000000000, base LID 3, "sw-0-0""
  void begin_switch(Cursor in) {
    inside_ = Inside::Other;
    in.skip_space();
    const auto guid = in.hex();
    if (!guid || *guid == 0 || !in.eat(',')) {
      return lines_.add_fault(
          "the table of a switch begins with: Switch 0x0002c90300000001, base LID 3, \"name\"");
    }
    const auto [known, is_new] = seen_.emplace(Guid{*guid}, lines_.number());
    if (!is_new) {
      return lines_.add_fault(fmt::format(
          "switch {} again after line {}; every switch has one table", Guid{*guid}, known->second));
    }
    inside_ = Inside::Switch;
    switches_.push_back({.line = lines_.number(), .guid = Guid{*guid}});
  }

  // "1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7"
  void read_row(Cursor in) {
    const auto from = in.number();
    in.skip_space();
    const auto to = in.number();
    in.skip_space();
    if (!from || !to || *from > 254 || *to > 254 || !in.eat(':')) return refuse_row();
    DumpedRow row{.in = PortNum{static_cast<std::uint8_t>(*from)},
                  .out = PortNum{static_cast<std::uint8_t>(*to)}};
    for (Vl& vl : row.vls) {
      in.skip_space();
      const auto number = in.number();
      if (!number || *number > kManagementVl.value()) return refuse_row();
      vl = Vl{static_cast<std::uint8_t>(*number)};
    }
    if (!trim(in.rest()).empty()) return refuse_row();
    if (inside_ == Inside::Nothing)
      return lines_.add_fault(
          "a row outside a table; Switch 0x…, base LID …, \"name\" comes first");
    if (inside_ == Inside::Other) return;
    std::vector<DumpedRow>& rows = switches_.back().rows;
    if (!rows.empty() && std::pair{row.out, row.in} <= std::pair{rows.back().out, rows.back().in}) {
      return lines_.add_fault(
          fmt::format("ports {} to {} after {} to {}; rows ascend by output, "
                      "then by input",
                      row.in,
                      row.out,
                      rows.back().in,
                      rows.back().out));
    }
    rows.push_back(row);
  }

  void refuse_row() {
    lines_.add_fault(
        fmt::format("\"{}\" is no row; one is input port, output port, colon and the "
                    "VLs of SL 0 to 15, each 0 to 15",
                    shorten(trim(lines_.text()))));
  }

  TextLines lines_;
  std::vector<DumpedSlToVl> switches_;
  std::unordered_map<Guid, int> seen_;  // look-ups only
  Inside inside_ = Inside::Nothing;
};

}  // namespace

Parsed<std::vector<DumpedSlToVl>> parse_sl2vl_dump(std::string_view text, const std::string& file) {
  return SlToVlReader(text, file).run();
}

namespace {

class PathSlReader {
 public:
  PathSlReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedPath>> run() {
    while (!lines_.full() && lines_.next()) read_line(trim(lines_.text()));
    end_record();
    if (lines_.faults().empty() && paths_.empty())
      lines_.add_fault_at(0, "no paths; saquery -p prints \"PathRecord dump:\" for each");
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(paths_);
  }

 private:
  // "dlid....................17": what a record does not need is skipped.
  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line == "PathRecord dump:") {
      end_record();
      begun_ = lines_.number();
      return;
    }
    const std::size_t dots = line.find("..");
    if (dots == std::string_view::npos) {
      lines_.add_fault(
          fmt::format("\"{}\" is no line of a PathRecord: name, dots, value", shorten(line)));
      return;
    }
    const std::string_view name = line.substr(0, dots);
    const std::string_view value =
        line.substr(std::min(line.find_first_not_of('.', dots), line.size()));
    if (name == "slid") read_number(value, kTopUnicastLid.value(), source_);
    if (name == "dlid") read_number(value, kTopUnicastLid.value(), destination_);
    if (name == "sl") read_number(value, 15, sl_);
  }

  void read_number(std::string_view value,
                   std::uint64_t most,
                   std::optional<std::uint64_t>& number) {
    Cursor in(value);
    number = in.number();
    if (number && *number <= most && trim(in.rest()).empty()) return;
    number = 0;
    lines_.add_fault(fmt::format("\"{}\" is no number from 0 to {}", shorten(value), most));
  }

  void end_record() {
    if (begun_ != 0 && source_ && destination_ && sl_) {
      paths_.push_back({.line = begun_,
                        .source = Lid{static_cast<std::uint16_t>(*source_)},
                        .destination = Lid{static_cast<std::uint16_t>(*destination_)},
                        .sl = Sl{static_cast<std::uint8_t>(*sl_)}});
    } else if (begun_ != 0) {
      lines_.add_fault_at(begun_, "a PathRecord without slid, dlid or sl: the file is cut");
    }
    begun_ = 0;
    source_.reset();
    destination_.reset();
    sl_.reset();
  }

  TextLines lines_;
  std::vector<DumpedPath> paths_;
  int begun_ = 0;  // line; 0 outside records
  std::optional<std::uint64_t> source_, destination_, sl_;
};

}  // namespace

Parsed<std::vector<DumpedPath>> parse_path_sl_dump(std::string_view text, const std::string& file) {
  return PathSlReader(text, file).run();
}

namespace {

class MftReader {
 public:
  MftReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedCopies>> run() {
    while (!lines_.full() && lines_.next()) read_line(trim(lines_.text()));
    if (lines_.faults().empty() && !any_) {
      lines_.add_fault_at(0,
                          "no multicast tables; opensm.mcfdbs has lines like Switch "
                          "0x0002c90300000001, LID    : Out Port(s) and 0xC000 : 0x001  0x003");
    }
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(copies_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#') || line.starts_with("LID ")) return;
    Cursor in(line);
    if (!in.eat("Switch ")) return read_entry(in);
    const auto guid = in.hex();
    any_ = true;
    if (!guid || *guid == 0 || !trim(in.rest()).empty())
      return lines_.add_fault("the table of a switch begins with: Switch 0x0002c90300000001");
    guid_ = Guid{*guid};
    const auto [known, is_new] = seen_.emplace(guid_, lines_.number());
    if (!is_new) {
      lines_.add_fault(fmt::format(
          "switch {} again after line {}; every switch has one table", guid_, known->second));
    }
  }

  // "0xC000 : 0x001  0x003"; OpenSM lists MLIDs without ports at times.
  void read_entry(Cursor in) {
    const std::uint64_t mlid = in.rest().starts_with("0x") ? in.number().value_or(0) : 0;
    in.skip_space();
    if (mlid < 0xc000 || mlid > 0xfffe || !in.eat(':')) return refuse();
    if (guid_ == Guid{})
      return lines_.add_fault("an entry outside a table; Switch 0x… comes first");
    DumpedCopies copies{.line = lines_.number(),
                        .guid = guid_,
                        .mlid = Lid{static_cast<std::uint16_t>(mlid)},
                        .ports = {}};
    for (in.skip_space(); !in.at_end(); in.skip_space()) {
      const auto port = in.number();
      if (!port || *port > 254) return refuse();
      const PortNum number{static_cast<std::uint8_t>(*port)};
      if (!copies.ports.empty() && number <= copies.ports.back())
        return lines_.add_fault("the ports of an entry ascend");
      copies.ports.push_back(number);
    }
    const bool again =
        !copies_.empty() && copies_.back().guid == guid_ && copies.mlid <= copies_.back().mlid;
    if (again) return lines_.add_fault("the MLIDs of a table ascend");
    copies_.push_back(std::move(copies));
  }

  void refuse() {
    lines_.add_fault(fmt::format(
        "\"{}\" is no entry; one is an MLID from 0xC000 to 0xFFFE, a colon and ports: 0xC000 : "
        "0x001  0x003",
        shorten(trim(lines_.text()))));
  }

  TextLines lines_;
  std::vector<DumpedCopies> copies_;
  std::unordered_map<Guid, int> seen_;  // look-ups only
  Guid guid_{};
  bool any_ = false;
};

/// "fe80::2:c903:0:1", or OpenSM's 0xfe80000000000000:0x0002c90300000001.
std::optional<Guid> read_port_gid(std::string_view text) {
  if (text.starts_with("0x")) {
    Cursor in(text);
    const auto prefix = in.hex();
    const bool colon = in.eat(':');
    const auto guid = in.hex();
    if (!prefix || !colon || !guid || *guid == 0 || !trim(in.rest()).empty()) return {};
    return Guid{*guid};
  }
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), bytes.data()) != 1) return {};
  std::uint64_t guid = 0;
  for (std::size_t i = 8; i < 16; ++i) guid = guid << 8 | bytes[i];
  return guid == 0 ? std::nullopt : std::optional(Guid{guid});
}

class MemberReader {
 public:
  MemberReader(std::string_view text, const std::string& file) : lines_(text, file) {}

  Parsed<std::vector<DumpedMember>> run() {
    while (!lines_.full() && lines_.next()) read_line(trim(lines_.text()));
    end_record();
    if (lines_.faults().empty() && !any_) {
      lines_.add_fault_at(0,
                          "no members of groups; saquery -m prints \"MCMemberRecord member dump:\" "
                          "for each, opensm-sa.dump has lines that begin with \"MC Group\"");
    }
    if (!lines_.faults().empty()) return tl::unexpected<Faults>(lines_.take_faults());
    return std::move(members_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line.starts_with("MC Group ")) return read_group(line);
    if (line.starts_with("mcm_port:")) return read_port(line);
    for (const char* other : {"Service Record:", "InformInfo Record:", "GUIDInfo Record:"}) {
      if (line.starts_with(other)) return;
    }
    if (line.starts_with("MCMember") && line.ends_with("dump:")) {
      end_record();
      begun_ = lines_.number();
      any_ = true;
      return;
    }
    const std::size_t dots = line.find("..");
    if (dots == std::string_view::npos) {
      return lines_.add_fault(
          fmt::format("\"{}\" is no line of a record: name, dots, value", shorten(line)));
    }
    const std::string_view name = line.substr(0, dots);
    const std::string_view value =
        line.substr(std::min(line.find_first_not_of('.', dots), line.size()));
    if (name == "Mlid" || name == "mlid") mlid_ = read_mlid(value);
    if (name == "PortGid") read_gid(value);
    if (name == "ScopeState" && !hidden_) state_ = read_state(value);
  }

  void read_group(std::string_view line) {
    any_ = true;
    group_ = read_mlid(value_of(line, " mlid="));
  }

  void read_port(std::string_view line) {
    const std::string_view gid = value_of(line, " port_gid=");
    const auto guid = read_port_gid(gid);
    if (!group_) return lines_.add_fault("a member before its group; MC Group … comes first");
    if (!guid)
      return lines_.add_fault(fmt::format("port_gid=\"{}\" is no GID of a port", shorten(gid)));
    add(lines_.number(), *group_, *guid, read_state(value_of(line, " scope_state=")));
  }

  static std::string_view value_of(std::string_view line, std::string_view key) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return {};
    const std::string_view rest = line.substr(at + key.size());
    return rest.substr(0, std::min(rest.find(' '), rest.size()));
  }

  std::optional<Lid> read_mlid(std::string_view value) {
    Cursor in(value);
    const auto number = in.number();
    if (number && *number >= 0xc000 && *number <= 0xfffe && trim(in.rest()).empty())
      return Lid{static_cast<std::uint16_t>(*number)};
    lines_.add_fault(
        fmt::format("\"{}\" is no multicast LID from 0xC000 to 0xFFFE", shorten(value)));
    return {};
  }

  void read_gid(std::string_view value) {
    hidden_ = trim(value) == "::";
    if (hidden_) {
      return lines_.add_fault(
          "members are not told to who asks without the manager's key: saquery --smkey KEY -m");
    }
    port_ = read_port_gid(value);
    if (!port_) lines_.add_fault(fmt::format("\"{}\" is no GID of a port", shorten(value)));
  }

  /// The lower half is the JoinState.
  std::optional<std::uint8_t> read_state(std::string_view value) {
    Cursor in(value);
    const auto number = in.number();
    if (number && *number <= 255 && (*number & 15) != 0 && trim(in.rest()).empty())
      return static_cast<std::uint8_t>(*number & 15);
    lines_.add_fault(fmt::format("\"{}\" is no scope and JoinState: 0x21", shorten(value)));
    return {};
  }

  void add(int line, Lid mlid, Guid port, std::optional<std::uint8_t> state) {
    if (state) members_.push_back({line, mlid, port, *state});
  }

  void end_record() {
    if (begun_ != 0 && lines_.faults().empty()) {
      if (mlid_ && port_ && state_) {
        add(begun_, *mlid_, *port_, state_);
      } else {
        lines_.add_fault_at(begun_,
                            "a record without Mlid, PortGid or ScopeState: the file is cut, or the "
                            "output of saquery -g in place of -m");
      }
    }
    begun_ = 0;
    hidden_ = false;
    mlid_.reset();
    port_.reset();
    state_.reset();
  }

  TextLines lines_;
  std::vector<DumpedMember> members_;
  int begun_ = 0;  // line; 0 outside records
  bool any_ = false;
  std::optional<Lid> group_;  // of the lines of opensm-sa.dump
  std::optional<Lid> mlid_;
  std::optional<Guid> port_;
  std::optional<std::uint8_t> state_;
  bool hidden_ = false;  // the record does not say whose it is
};

}  // namespace

Parsed<std::vector<DumpedCopies>> parse_mft_dump(std::string_view text, const std::string& file) {
  return MftReader(text, file).run();
}

Parsed<std::vector<DumpedMember>> parse_member_dump(std::string_view text,
                                                    const std::string& file) {
  return MemberReader(text, file).run();
}

}  // namespace smd::bin
