// example: the small networks of the literature whose every number is known by hand.
#include <fmt/core.h>

#include <array>
#include <span>
#include <string_view>

#include "sim-backend/topology/drawing.h"
#include "sim-backend/topology/generators/generator_entries.h"
#include "smd/base/check.h"

namespace smd::sim {
namespace {

/// A node of a figure: its label, and 100 + k for switch k or 200 + k for the adapter of switch k.
struct Label {
  unsigned label;
  std::uint64_t guid;
};

struct Link {
  unsigned a, port_a, b, port_b;
};

struct Figure {
  std::span<const Label> labels;
  std::span<const Link> links;
};

constexpr unsigned kSwitchPorts = 4;

bool is_switch(const Label& label) { return label.guid < 200; }

// One subnet, two numberings by discovery order. The manager is on adapter 1 here.
constexpr std::array kLabels67{
    Label{1, 200},
    Label{2, 100},
    Label{3, 105},
    Label{4, 106},
    Label{5, 102},
    Label{6, 104},
    Label{7, 205},
    Label{8, 101},
    Label{9, 103},
    Label{10, 107},
    Label{11, 202},
    Label{12, 204},
    Label{13, 201},
    Label{14, 203},
    Label{15, 207},
};
constexpr std::array kCables67{
    Link{1, 1, 2, 3},
    Link{2, 1, 3, 4},
    Link{2, 2, 4, 1},
    Link{3, 1, 5, 3},
    Link{3, 2, 6, 1},
    Link{3, 3, 7, 1},
    Link{4, 2, 8, 1},
    Link{4, 3, 9, 1},
    Link{4, 4, 6, 2},
    Link{5, 1, 10, 1},
    Link{5, 2, 11, 1},
    Link{6, 3, 10, 2},
    Link{6, 4, 12, 1},
    Link{8, 2, 13, 1},
    Link{9, 2, 14, 1},
    Link{10, 3, 15, 1},
};

// fig67 with a ninth switch and its two adapters.
constexpr std::array kLabels68{
    Label{1, 200},
    Label{2, 100},
    Label{3, 105},
    Label{4, 106},
    Label{5, 102},
    Label{6, 104},
    Label{7, 205},
    Label{8, 101},
    Label{9, 103},
    Label{10, 107},
    Label{11, 202},
    Label{12, 204},
    Label{13, 201},
    Label{14, 203},
    Label{15, 207},
    Label{16, 108},
    Label{17, 208},
    Label{18, 209},
};
constexpr std::array kCables68{
    Link{1, 1, 2, 3},  Link{2, 1, 3, 4},  Link{2, 2, 4, 1},   Link{3, 1, 5, 3},
    Link{3, 2, 6, 1},  Link{3, 3, 7, 1},  Link{4, 2, 8, 1},   Link{4, 3, 9, 1},
    Link{4, 4, 6, 2},  Link{5, 1, 10, 1}, Link{5, 2, 11, 1},  Link{6, 3, 10, 2},
    Link{6, 4, 12, 1}, Link{8, 2, 13, 1}, Link{9, 2, 14, 1},  Link{10, 3, 15, 1},
    Link{16, 2, 8, 3}, Link{16, 4, 9, 3}, Link{16, 1, 17, 1}, Link{16, 3, 18, 1},
};

// fig67 without switch 3; adapter 7 hung on it and is left without a link.
constexpr std::array kLabels69{
    Label{1, 200},
    Label{2, 100},
    Label{4, 106},
    Label{5, 102},
    Label{6, 104},
    Label{7, 205},
    Label{8, 101},
    Label{9, 103},
    Label{10, 107},
    Label{11, 202},
    Label{12, 204},
    Label{13, 201},
    Label{14, 203},
    Label{15, 207},
};
constexpr std::array kCables69{
    Link{1, 1, 2, 3},
    Link{2, 2, 4, 1},
    Link{4, 2, 8, 1},
    Link{4, 3, 9, 1},
    Link{4, 4, 6, 2},
    Link{5, 1, 10, 1},
    Link{5, 2, 11, 1},
    Link{6, 3, 10, 2},
    Link{6, 4, 12, 1},
    Link{8, 2, 13, 1},
    Link{9, 2, 14, 1},
    Link{10, 3, 15, 1},
};

// The manager is in switch 1 here.
constexpr std::array kLabels76{
    Label{1, 100},
    Label{2, 105},
    Label{3, 106},
    Label{4, 200},
    Label{5, 102},
    Label{6, 104},
    Label{7, 205},
    Label{8, 101},
    Label{9, 103},
    Label{10, 107},
    Label{11, 202},
    Label{12, 204},
    Label{13, 201},
    Label{14, 203},
    Label{15, 207},
};
constexpr std::array kCables76{
    Link{1, 3, 4, 1},
    Link{1, 1, 2, 1},
    Link{1, 2, 3, 1},
    Link{2, 2, 5, 2},
    Link{2, 3, 6, 1},
    Link{2, 4, 7, 1},
    Link{3, 2, 8, 1},
    Link{3, 3, 9, 1},
    Link{3, 4, 6, 2},
    Link{5, 1, 10, 1},
    Link{5, 3, 11, 1},
    Link{6, 3, 10, 2},
    Link{6, 4, 12, 1},
    Link{8, 2, 13, 1},
    Link{9, 2, 14, 1},
    Link{10, 3, 15, 1},
};

// Three links per switch on the first free ports, and an adapter on port 4 of each.
constexpr std::array<std::pair<unsigned, unsigned>, 12> kFlichLinks{{
    {0, 2},
    {0, 4},
    {0, 5},
    {1, 2},
    {1, 5},
    {1, 6},
    {2, 7},
    {3, 5},
    {3, 6},
    {3, 7},
    {4, 6},
    {4, 7},
}};
constexpr unsigned kFlichSwitches = 8;

std::string node_name(unsigned label) { return fmt::format("node-{}", label); }

FabricSpec draw_figure(const Figure& figure, const Arguments& arguments) {
  FabricSpec spec;
  std::vector<std::uint32_t> node_of(figure.labels.back().label + 1, kNoNode);
  for (const Label& label : figure.labels) {
    node_of[label.label] = add_node(spec,
                                    is_switch(label) ? NodeType::Switch : NodeType::Ca,
                                    node_name(label.label),
                                    Guid{label.guid},
                                    is_switch(label) ? kSwitchPorts : 1);
  }
  for (const Link& link : figure.links) {
    connect(spec,
            node_of[link.a],
            port_num(link.port_a),
            node_of[link.b],
            port_num(link.port_b),
            arguments.width,
            arguments.speed);
  }
  spec.sm_port = port_num(is_switch(figure.labels.front()) ? 0 : 1);
  return spec;
}

FabricSpec draw_flich(const Arguments& arguments) {
  FabricSpec spec;
  std::array<unsigned, kFlichSwitches> next{};
  for (unsigned s = 0; s < kFlichSwitches; ++s) {
    add_node(spec, NodeType::Switch, node_name(s), Guid{100 + s}, kSwitchPorts);
    next[s] = 1;
  }
  for (const auto& [a, b] : kFlichLinks) {
    connect(spec, a, port_num(next[a]++), b, port_num(next[b]++), arguments.width, arguments.speed);
  }
  for (unsigned s = 0; s < kFlichSwitches; ++s) {
    const std::uint32_t host =
        add_node(spec, NodeType::Ca, fmt::format("host-{:05}", s), Guid{200 + s}, 1);
    connect(spec, s, port_num(kSwitchPorts), host, port_num(1), arguments.width, arguments.speed);
  }
  move_to_front(spec, kFlichSwitches);
  spec.sm_node = 0;
  spec.sm_port = port_num(1);
  return spec;
}

Result<FabricSpec> draw_example(const Arguments& arguments) {
  const std::string& name = arguments.word("name");
  if (name == "fig67") return draw_figure({kLabels67, kCables67}, arguments);
  if (name == "fig68") return draw_figure({kLabels68, kCables68}, arguments);
  if (name == "fig69") return draw_figure({kLabels69, kCables69}, arguments);
  if (name == "fig76") return draw_figure({kLabels76, kCables76}, arguments);
  SMD_CHECK(name == "flich", "a choice of the key has no drawing");
  return draw_flich(arguments);
}

constexpr std::array kExampleKeys{
    word_key("name", "fig67", "fig67|fig68|fig69|fig76|flich")
        .means("fig67: 8 switches, 7 adapters, manager on node-1; fig68: and one switch more; "
               "fig69: without node-3; fig76: fig67 with the manager in a switch, renumbered; "
               "flich: 8 switches of 3 links"),
};

}  // namespace

const Generator kExample{
    .name = "example",
    .meaning = "a worked example of the literature; nodes are called node-N after its labels",
    .keys = kExampleKeys,
    .draw = draw_example,
    .width = "1x",
    .speed = "SDR",
};

}  // namespace smd::sim
