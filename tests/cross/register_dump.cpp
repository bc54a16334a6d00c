// Every register of a subnet that a subnet manager writes, read by directed routes and put into
// words by libibmad, which shares nothing with smd: a line a field,
//
//   S-0002000000000000 3 PortInfo OperVLs=VL0-7
//
// with the node's id as in a net file, the port and the register. `register_dump paths` prints what
// the subnet administration gives the host that it runs on: a PathRecord for every pair of LIDs, of
// the manager's choice and in each partition that some port is in. LIDs are named by their nodes.
// $SMD_M_KEY is the key to show. Runs beneath libumad2sim, or on a real adapter.
#include <fmt/core.h>
#include <infiniband/mad.h>

#include <array>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

using Block = std::array<std::uint8_t, IB_SMP_DATA_SIZE>;

constexpr unsigned kPatienceMs = 1000;
constexpr unsigned kSl2VlDirect = 0;

std::uint16_t word_at(const std::uint8_t* bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] << 8 | bytes[at + 1]);
}

class Dump {
 public:
  Dump(ibmad_port* port, bool quiet) : port_(port), quiet_(quiet) {}

  /// The number of registers that could not be read, each with a line of its own.
  int run() {
    std::set<std::uint64_t> seen;
    std::deque<ib_portid_t> open(1);
    for (; !open.empty(); open.pop_front()) {
      const ib_portid_t route = open.front();
      Block info{};
      if (!get(route, IB_ATTR_NODE_INFO, 0, info)) {
        miss("-", 0, "NodeInfo");
        continue;
      }
      std::uint64_t guid = 0;
      mad_decode_field(info.data(), IB_NODE_GUID_F, &guid);
      if (!seen.insert(guid).second) continue;
      const bool is_switch = field(info, IB_NODE_TYPE_F) == IB_NODE_SWITCH;
      const unsigned ports = field(info, IB_NODE_NPORTS_F);
      node_ = fmt::format("{}-{:016x}", is_switch ? 'S' : 'H', guid);
      if (is_switch) {
        dump_switch(route, info, ports);
      } else {
        dump_port(route, field(info, IB_NODE_LOCAL_PORT_F), field(info, IB_NODE_PARTITION_CAP_F));
      }
      if (!is_switch && route.drpath.cnt != 0) continue;
      const unsigned own = is_switch ? 0 : field(info, IB_NODE_LOCAL_PORT_F);
      for (unsigned p = is_switch ? 1 : own; p <= (is_switch ? ports : own); ++p) {
        if (!up_.contains({node_, p})) continue;
        ib_portid_t next = route;
        next.drpath.cnt += 1;
        next.drpath.p[next.drpath.cnt] = static_cast<std::uint8_t>(p);
        open.push_back(next);
      }
    }
    return missed_;
  }

  void print_paths() {
    for (const auto& [source, ignored] : lids_) {
      for (const auto& [destination, ignored_too] : lids_) {
        print_path(source, destination, 0);
        for (const unsigned key : partitions_) print_path(source, destination, key);
      }
    }
  }

 private:
  /// A partition of 0 is the manager's choice.
  void print_path(unsigned source, unsigned destination, unsigned partition) {
    std::array<std::uint8_t, IB_SA_DATA_SIZE> data{};
    const auto put = [&](std::size_t at, unsigned value) {
      data[at] = static_cast<std::uint8_t>(value >> 8);
      data[at + 1] = static_cast<std::uint8_t>(value);
    };
    put(40, destination);
    put(42, source);
    data[49] = 1;  // one path, reversible or not
    put(50, partition);
    ib_sa_call_t call{};
    call.method = IB_MAD_METHOD_GET;
    call.attrid = IB_SA_ATTR_PATHRECORD;
    call.mask = 1 << 4 | 1 << 5 | 1 << 12 | (partition != 0 ? 1 << 13 : 0);
    ib_portid_t manager{};
    manager.lid = static_cast<int>(manager_);
    manager.qp = 1;
    manager.qkey = IB_DEFAULT_QP1_QKEY;
    const std::uint8_t* got = sa_rpc_call(port_, data.data(), &manager, &call, kPatienceMs);
    const std::string which = partition == 0 ? "any" : fmt::format("0x{:04x}", partition);
    fmt::print("{} {} Path[{}] ", lids_[source], lids_[destination], which);
    if (got == nullptr) {
      fmt::print("none\n");
      return;
    }
    fmt::print("pkey=0x{:04x} sl={} mtu={} rate={} life={}\n",
               word_at(got, 50),
               word_at(got, 52) & 15,
               got[54] & 63,
               got[55] & 63,
               got[56] & 63);
  }

  static unsigned field(Block& block, MAD_FIELDS which) {
    std::uint32_t value = 0;
    mad_decode_field(block.data(), which, &value);
    return value;
  }

  bool get(ib_portid_t route, unsigned attribute, unsigned modifier, Block& out) {
    int status = 0;
    return smp_query_status_via(
               out.data(), &route, attribute, modifier, kPatienceMs, &status, port_) != nullptr &&
           status == 0;
  }

  void miss(const std::string& node, unsigned port, const std::string& reg) {
    fmt::print("{} {} {} unread\n", node, port, reg);
    missed_ += 1;
  }

  void say(unsigned port, const std::string& reg, const std::string& text) {
    if (quiet_) return;
    fmt::print("{} {} {} {}\n", node_, port, reg, text);
  }

  /// "Name:.....value" a line, as libibmad has it.
  void say_fields(unsigned port, const std::string& reg, Block& block, ib_mad_dump_fn* print) {
    std::array<char, 4096> text{};
    print(text.data(), static_cast<int>(text.size()), block.data(), static_cast<int>(block.size()));
    std::istringstream lines(text.data());
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(':');
      const std::size_t value = line.find_first_not_of('.', colon + 1);
      if (colon == std::string::npos) continue;
      say(port,
          reg,
          line.substr(0, colon) + "=" + (value == std::string::npos ? "" : line.substr(value)));
    }
  }

  void dump_switch(const ib_portid_t& route, Block& node_info, unsigned ports) {
    Block info{};
    if (get(route, IB_ATTR_SWITCH_INFO, 0, info)) {
      say_fields(0, "SwitchInfo", info, mad_dump_switchinfo);
    } else {
      miss(node_, 0, "SwitchInfo");
    }
    dump_port(route, 0, field(node_info, IB_NODE_PARTITION_CAP_F));
    for (unsigned p = 1; p <= ports; ++p)
      dump_port(route, p, field(info, IB_SW_PARTITION_ENFORCE_CAP_F));
    for (unsigned in = 0; in <= ports; ++in) {
      for (unsigned out = 0; out <= ports; ++out) {
        if (out == 0 || up_.contains({node_, out}))
          dump_lanes(route, in << 8 | out, out, fmt::format("SL2VL[{}]", in));
      }
    }
  }

  void dump_lanes(const ib_portid_t& route,
                  unsigned modifier,
                  unsigned port,
                  const std::string& reg) {
    Block row{};
    if (!get(route, IB_ATTR_SLVL_TABLE, modifier, row)) return miss(node_, port, reg);
    std::string text;
    for (unsigned sl = 0; sl < 16; ++sl)
      text += fmt::format(
          "{}{}", sl == 0 ? "" : ",", sl % 2 == 0 ? row[sl / 2] >> 4 : row[sl / 2] & 15);
    say(port, reg, "vls=" + text);
  }

  void dump_port(const ib_portid_t& route, unsigned port, unsigned partitions) {
    Block info{};
    if (!get(route, IB_ATTR_PORT_INFO, port, info)) return miss(node_, port, "PortInfo");
    const bool is_up = field(info, IB_PORT_PHYS_STATE_F) == 5;
    if (!is_up && port != 0) return;
    if (port != 0) up_.insert({node_, port});
    say_fields(port, "PortInfo", info, mad_dump_portinfo);
    manager_ = field(info, IB_PORT_SMLID_F);
    const unsigned lid = field(info, IB_PORT_LID_F);
    for (unsigned i = 0; lid != 0 && i < 1u << field(info, IB_PORT_LMC_F); ++i)
      lids_[lid + i] = i == 0 ? node_ : fmt::format("{}+{}", node_, i);
    dump_keys(route, port, partitions);
    const bool is_switch = node_.front() == 'S';
    if (!is_switch) dump_lanes(route, kSl2VlDirect, port, "SL2VL");
    if (port == 0) return;
    for (const unsigned half : {1u, 3u}) {
      const unsigned entries = field(
          info, half == 1 ? IB_PORT_VL_ARBITRATION_LOW_CAP_F : IB_PORT_VL_ARBITRATION_HIGH_CAP_F);
      dump_arbitration(route, port, half, entries);
    }
  }

  /// Entries that the port has and that give some VL a weight, in order.
  void dump_arbitration(const ib_portid_t& route, unsigned port, unsigned half, unsigned entries) {
    const std::string reg = half == 1 ? "VLArbLow" : "VLArbHigh";
    std::string text;
    for (unsigned at = 0; at < entries; at += 32) {
      Block block{};
      if (!get(route, IB_ATTR_VL_ARBITRATION, (half + at / 32) << 16 | port, block))
        return miss(node_, port, reg);
      for (unsigned i = 0; i < 32 && at + i < entries; ++i) {
        const unsigned vl = block[2 * i] & 15, weight = block[2 * i + 1];
        if (weight != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", vl, weight);
      }
    }
    say(port, reg, "entries=" + text);
  }

  /// Blocks as they are, the keys as a set, and of a port that sends packets of its own the one
  /// that it takes by itself.
  void dump_keys(const ib_portid_t& route, unsigned port, unsigned partitions) {
    std::set<unsigned> keys;
    unsigned block_number = 0;
    for (unsigned at = 0; at < partitions; at += 32) {
      Block block{};
      if (!get(route, IB_ATTR_PKEY_TBL, (node_.front() == 'S' ? port << 16 : 0) | at / 32, block))
        return miss(node_, port, "P_KeyTable");
      std::string words;
      for (unsigned i = 0; i < 32; ++i)
        words += fmt::format("{:04x}", word_at(block.data(), 2 * i));
      if (at == 0 && (node_.front() == 'H' || port == 0))
        say(port, "P_KeyTable", "first=0x" + words.substr(0, 4));
      say(port, fmt::format("P_KeyTable[{}]", block_number++), "block=" + words);
      for (unsigned i = 0; i < 32 && at + i < partitions; ++i) {
        const unsigned key = word_at(block.data(), 2 * i);
        if ((key & 0x7fff) == 0) continue;
        keys.insert(key);
        partitions_.insert(key | 0x8000);
      }
    }
    std::string text;
    for (const unsigned key : keys) text += fmt::format("{}0x{:04x}", text.empty() ? "" : ",", key);
    say(port, "P_KeyTable", "keys=" + text);
  }

  ibmad_port* port_;
  bool quiet_;
  std::string node_;
  unsigned manager_ = 0;
  std::map<unsigned, std::string> lids_;  // whose, by node and path bits
  std::set<unsigned> partitions_;
  std::set<std::pair<std::string, unsigned>> up_;
  int missed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const bool paths = argc > 1 && std::string(argv[1]) == "paths";
  std::array<int, 2> classes = {IB_SMI_DIRECT_CLASS, IB_SA_CLASS};
  ibmad_port* const port =
      mad_rpc_open_port(nullptr, 0, classes.data(), static_cast<int>(classes.size()));
  if (port == nullptr) {
    fmt::print(stderr, "register_dump: no port\n");
    return 2;
  }
  if (const char* key = std::getenv("SMD_M_KEY"))
    smp_mkey_set(port, std::strtoull(key, nullptr, 0));
  Dump dump(port, paths);
  const int missed = dump.run();
  if (paths) dump.print_paths();
  mad_rpc_close_port(port);
  return missed == 0 ? 0 : 1;
}
