#include "sim-backend/topology/net_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "sim-backend/topology/cursor.h"
#include "sim-backend/topology/limits.h"
#include "sim-backend/topology/net_comment.h"

namespace smd::sim {
namespace {

constexpr int kMaxIncludes = 9;  // deep, as in ibsim; also ends a file that includes itself
constexpr std::size_t kShown = 60;

/// ibsim hands out GUIDs by node type, continuing from the last base that the file set.
struct GuidSource {
  std::uint64_t base;
  std::uint64_t next;
};

struct MaskRule {
  unsigned least, most;
  std::string_view advice;
};

constexpr MaskRule kWidthMask{
    1, 31, "width (w=) is a sum of 1 (1x), 2 (4x), 4 (8x), 8 (12x) and 16 (2x)"};
constexpr MaskRule kSpeedMask{1, 7, "speed (s=) is a sum of 1 (SDR), 2 (DDR) and 4 (QDR)"};
constexpr MaskRule kExtendedMask{
    0, 15, "extended speed (e=) is a sum of 1 (FDR), 2 (EDR), 4 (HDR) and 8 (NDR)"};

/// Text from the file, cut and without anything a terminal would act on.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, kShown));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return text.size() > kShown ? result + "…" : result;
}

/// A port GUID in parentheses; 0 when there is none.
Guid take_guid(Cursor& in) {
  if (!in.eat('(')) return Guid{};
  const Guid guid{in.hex().value_or(0)};
  in.eat(')');
  return guid;
}

/// ibnetdiscover prints the GUID of a switch's port 0 behind its node's. Skipped whole or not at
/// all.
void skip_second_guid(Cursor& in) {
  Cursor ahead = in;
  if (ahead.eat('(') && ahead.hex() && ahead.eat(')')) in = ahead;
}

class LineReader {
 public:
  explicit LineReader(const Includer& include) : include_(include) {}

  NetRecords run(std::string_view text, const std::string& file) {
    read_file(text, file);
    if (records_.title.empty()) records_.title = file;
    if (records_.nodes.empty()) report_no_nodes();
    return std::move(records_);
  }

 private:
  void read_file(std::string_view text, const std::string& file);
  void read_line(std::string_view line);
  bool read_header(std::string_view line);
  bool read_assignment(std::string_view line);
  void read_guid_base(NodeType type, Cursor& in);
  bool read_mask(const MaskRule& rule, Cursor& in, unsigned& mask);
  void check_end(Cursor& in);
  void read_include(Cursor& in);
  void read_comment(std::string_view text);
  void start_node(NodeType type, unsigned ports, std::string_view id, std::string_view comment);
  void read_cable(std::string_view line);
  bool read_options(Cursor& in, PortRecord& cable);
  void report_no_nodes();

  void add_fault(std::string message) { records_.add_fault(place_, std::move(message)); }

  GuidSource& guids(NodeType type) { return guids_[static_cast<std::size_t>(type) - 1]; }

  const Includer& include_;
  NetRecords records_;
  FilePlace place_;
  int depth_ = 0;
  std::array<GuidSource, 3> guids_{
      {{0x100000, 0x100000}, {0x200000, 0x200000}, {0x300000, 0x300000}}};
  std::uint32_t vendor_ = NodeSpec{}.vendor_id;
  std::uint16_t device_ = 0;
  Guid system_guid_;  // of the next node only
  RateMasks masks_;
  bool in_node_ = false;  // lines that begin with [ belong to the last node
};

void LineReader::read_file(std::string_view text, const std::string& file) {
  const FilePlace outer = place_;
  place_ = {static_cast<std::uint32_t>(records_.files.size()), 0};
  records_.files.push_back(file);
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (!text.empty() && records_.faults.size() < kMaxFaults) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++place_.line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto is_binary = [](char c) {
      return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    };
    if (std::ranges::any_of(line, is_binary)) {
      add_fault("binary data: a fabric file is text, ibsim net format or ibnetdiscover output");
      break;
    }
    read_line(line);
  }
  place_ = outer;
}

void LineReader::read_line(std::string_view line) {
  if (line.empty() || trim(line).empty()) {
    in_node_ = false;
  } else if (line.starts_with('#')) {
    read_comment(line.substr(1));
  } else if (line.starts_with('[')) {
    read_cable(line);
  } else if (line.starts_with('@')) {
    add_fault("aliases are not supported: name the node and its port, [1] \"id\"[2]");
  } else if (!read_header(line) && !read_assignment(line) && !is_decoration(line)) {
    add_fault(
        fmt::format("\"{}\" is not understood: a line begins with Switch, Ca, Hca, Rt, a "
                    "port in brackets, an assignment or #",
                    shown(line)));
  }
}

bool LineReader::read_header(std::string_view line) {
  Cursor in(line);
  const std::string_view word = in.word();
  NodeType type = NodeType::Ca;
  if (word == "Switch") {
    type = NodeType::Switch;
  } else if (word == "Rt") {
    type = NodeType::Router;
  } else if (word != "Ca" && word != "Hca") {
    return false;
  }
  in_node_ = false;
  in.skip_space();
  const auto ports = in.number();
  in.skip_space();
  const auto id = in.quoted();
  if (!ports || !id) {
    add_fault(fmt::format("{0} needs a number of ports and an id in quotes: {0} 36 \"id\"", word));
    return true;
  }
  if (*ports < 1 || *ports > kMaxPorts) {
    add_fault(fmt::format("{} ports on \"{}\": a node has 1 to {}", *ports, *id, kMaxPorts));
    return true;
  }
  if (const std::string_view why = check_id(*id); !why.empty()) {
    add_fault(fmt::format("node id \"{}\": {}", shown(*id), why));
    return true;
  }
  in.skip_space();
  if (!in.at_end() && !in.eat('#')) {
    add_fault(fmt::format("\"{}\" after the id: only a comment may follow", shown(in.rest())));
    return true;
  }
  start_node(type, static_cast<unsigned>(*ports), *id, in.rest());
  return true;
}

void LineReader::start_node(NodeType type,
                            unsigned ports,
                            std::string_view id,
                            std::string_view comment) {
  GuidSource& source = guids(type);
  const HeaderComment said = parse_header_comment(comment);
  FabricSpec one;
  add_node(one, type, std::string(said.description.value_or(id)), Guid{source.next}, ports);
  NodeRecord record{.place = place_, .node = std::move(one.nodes[0])};
  source.next += type == NodeType::Switch ? 1 : ports + 1;
  record.node.id = id;
  record.node.vendor_id = vendor_;
  record.node.device_id = device_;
  record.node.enhanced_port0 = said.enhanced_port0;
  if (system_guid_ != Guid{}) record.node.system_guid = std::exchange(system_guid_, Guid{});
  if (type == NodeType::Switch) {
    record.node.ports[0].lid = said.address.lid;
    record.node.ports[0].lmc = said.address.lmc;
  }
  if (!said.fault.empty()) add_fault(said.fault);
  if (const std::string_view why = check_description(record.node.description); !why.empty()) {
    add_fault(fmt::format("description \"{}\": {}", shown(record.node.description), why));
  }
  records_.nodes.push_back(std::move(record));
  in_node_ = true;
}

bool LineReader::read_assignment(std::string_view line) {
  const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  const std::string_view name = line.substr(0, end);
  Cursor in(line.substr(name.size()));
  if (name == "include") {
    read_include(in);
  } else if (name == "switchguid" || name == "switchguids") {
    read_guid_base(NodeType::Switch, in);
  } else if (name == "caguid" || name == "hcaguids") {
    read_guid_base(NodeType::Ca, in);
  } else if (name == "rtguid") {
    read_guid_base(NodeType::Router, in);
  } else if (name == "vendid" || name == "devid" || name == "sysimgguid") {
    const bool is_assigned = in.eat('=');
    const auto value = in.number();
    const std::uint64_t most = name == "vendid" ? 0xffffff : name == "devid" ? 0xffff : UINT64_MAX;
    if (!is_assigned || !value || *value > most) {
      add_fault(fmt::format("{0} needs a number up to 0x{1:x}: {0}=0x2c9", name, most));
      return true;
    }
    if (name == "vendid") {
      vendor_ = static_cast<std::uint32_t>(*value);
    } else if (name == "devid") {
      device_ = static_cast<std::uint16_t>(*value);
    } else {
      system_guid_ = Guid{*value};
      skip_second_guid(in);
    }
    check_end(in);
  } else if (name == "width") {
    if (read_mask(kWidthMask, in, masks_.width)) check_end(in);
  } else if (name == "speed") {
    if (read_mask(kSpeedMask, in, masks_.speed)) check_end(in);
  } else if (name == "extspeed") {
    if (read_mask(kExtendedMask, in, masks_.extended)) check_end(in);
  } else if (name == "module") {
    add_fault("modules are not supported: give every node an id of its own");
  } else if (name == "do") {
    add_fault("console commands are not supported in a fabric file: give them to the simulator");
  } else {
    return name == "pdebug";
  }
  return true;
}

void LineReader::read_guid_base(NodeType type, Cursor& in) {
  const bool relative = in.eat('+');
  if (!relative && !in.eat('=')) return add_fault("a GUID needs = or +: switchguid=0x200000");
  const auto value = in.number();
  if (!value) return add_fault("a GUID is a number: switchguid=0x200000");
  GuidSource& source = guids(type);
  if (!relative) source.base = *value;
  source.next = relative ? source.base + *value : *value;
  skip_second_guid(in);
  check_end(in);
}

/// Behind the value of an assignment.
void LineReader::check_end(Cursor& in) {
  in.skip_space();
  if (in.at_end() || in.eat('#')) return;
  add_fault(
      fmt::format("\"{}\" after the number: only a comment may follow, and a hexadecimal "
                  "number begins with 0x",
                  shown(in.rest())));
}

bool LineReader::read_mask(const MaskRule& rule, Cursor& in, unsigned& mask) {
  const bool is_assigned = in.eat('=');
  const std::uint64_t value = in.number().value_or(rule.most + 1u);
  if (!is_assigned || value < rule.least || value > rule.most) {
    add_fault(std::string(rule.advice));
    return false;
  }
  mask = static_cast<unsigned>(value);
  return true;
}

void LineReader::read_include(Cursor& in) {
  in.skip_space();
  const auto name = in.quoted();
  if (!name) return add_fault("include needs a file name in quotes: include \"other.net\"");
  if (!include_)
    return add_fault("include is not possible here: the text does not come from a file");
  if (depth_ == kMaxIncludes) {
    return add_fault(fmt::format("includes are nested deeper than {}", kMaxIncludes));
  }
  const Result<std::string> text = include_(std::string(*name));
  if (!text)
    return add_fault(fmt::format("include \"{}\": {}", shown(*name), text.error().context));
  ++depth_;
  read_file(*text, std::string(*name));
  --depth_;
}

void LineReader::read_comment(std::string_view text) {
  Cursor in(trim(text));
  if (in.eat("Fabric: ")) {
    if (records_.title.empty()) records_.title = in.rest();
  } else if (in.eat("Initiated from node ")) {
    const auto node = in.hex();
    const auto port = in.eat(" port ") ? in.hex() : std::nullopt;
    if (!node || !port) return;  // a comment is never wrong
    records_.sm_node = Guid{*node};
    records_.sm_port = Guid{*port};
  }
}

/// [port][ext n](guid) "peer"[port][ext n](guid) w=… s=… # comment
void LineReader::read_cable(std::string_view line) {
  if (!in_node_) return add_fault("a port without a node: a Switch or Ca line comes first");
  NodeRecord& node = records_.nodes.back();
  PortRecord cable{.place = place_, .masks = masks_};
  Cursor in(line);
  in.eat('[');
  const auto port = in.number();
  if (!port || !in.eat(']')) return add_fault("a port is a number in brackets: [1] \"id\"[2]");
  if (*port < 1 || *port > node.node.num_ports()) {
    return add_fault(fmt::format(
        "port {} of \"{}\": it has ports 1 to {}", *port, node.node.id, node.node.num_ports()));
  }
  cable.port = static_cast<unsigned>(*port);
  skip_external_port(in);
  cable.guid = take_guid(in);
  in.skip_space();
  const auto peer = in.quoted();
  if (!peer) return add_fault("the other end is a node id in quotes: [1] \"id\"[2]");
  cable.peer_id = *peer;
  if (in.eat('[')) {
    const auto peer_port = in.number();
    if (!peer_port || *peer_port < 1 || *peer_port > kMaxPorts || !in.eat(']')) {
      return add_fault(fmt::format("the other end's port is 1 to {}: [1] \"id\"[2]", kMaxPorts));
    }
    cable.peer_port = static_cast<unsigned>(*peer_port);
  }
  skip_external_port(in);
  in.skip_space();  // ibnetdiscover prints one between two adapters
  cable.peer_guid = take_guid(in);
  if (!read_options(in, cable)) return;
  const PortComment said = parse_port_comment(in.rest());
  if (!said.fault.empty()) return add_fault(said.fault);
  cable.width = said.width;
  cable.speed = said.speed;
  cable.is_speed_unknown = said.is_speed_unknown;
  if (node.node.type != NodeType::Switch) {
    cable.lid = said.address.lid;
    cable.lmc = said.address.lmc;
  }
  node.ports.push_back(std::move(cable));
}

/// Leaves `in` behind the #, or at the end.
bool LineReader::read_options(Cursor& in, PortRecord& cable) {
  while (true) {
    in.skip_space();
    if (in.at_end() || in.eat('#')) return true;
    const std::size_t before = records_.faults.size();
    if (in.eat('w')) {
      read_mask(kWidthMask, in, cable.masks.width);
    } else if (in.eat('s')) {
      read_mask(kSpeedMask, in, cable.masks.speed);
    } else if (in.eat('e')) {
      read_mask(kExtendedMask, in, cable.masks.extended);
    } else {
      add_fault(fmt::format("\"{}\" is no option of a port: w=, s=, e= or a comment after #",
                            shown(in.rest())));
    }
    if (records_.faults.size() != before) return false;
  }
}

void LineReader::report_no_nodes() {
  // Unknown lines in a file without a single node mean that it is some other kind of file.
  const int line = records_.faults.empty() ? 0 : records_.faults.front().line;
  if (records_.faults.size() == 1 && line != 0) return;
  records_.faults.clear();
  records_.add_fault({0, line},
                     "no nodes: ibsim net format and ibnetdiscover output have lines like "
                     "Switch 36 \"id\" followed by [1] \"id\"[2]");
}

}  // namespace

void NetRecords::add_fault(FilePlace place, std::string message) {
  if (faults.size() < kMaxFaults) {
    faults.push_back({files[place.file], place.line, std::move(message)});
  }
}

NetRecords read_net_lines(std::string_view text, const std::string& file, const Includer& include) {
  return LineReader(include).run(text, file);
}

}  // namespace smd::sim
