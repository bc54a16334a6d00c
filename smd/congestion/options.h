// What an operator may say about congestion control. What he leaves out is computed.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "smd/mad/congestion.h"

namespace smd::cc {

/// Of one node; absent fields are those of everybody.
struct NodeOverride {
  Guid node;
  bool off = false;                   // left alone
  std::optional<unsigned> threshold;  // switches, as the next two
  std::optional<unsigned> packet_size;
  std::optional<unsigned> marking_rate;
  std::optional<unsigned> ccti_timer;  // adapters, every SL, as the next three
  std::optional<unsigned> ccti_increase;
  std::optional<unsigned> trigger_threshold;
  std::optional<unsigned> ccti_min;

  friend bool operator==(const NodeOverride&, const NodeOverride&) = default;
};

/// By SL; what OpenSM calls cc_ca_cong_setting_….
using BySl = std::array<std::optional<unsigned>, kSls>;

struct Options {
  bool enabled = false;
  CcKey key;                       // of every MAD
  bool protect = false;            // write the key to every node, so that no other one is obeyed
  unsigned lease_s = 0;            // until a node forgets the key of a manager that is gone
  unsigned max_outstanding = 500;  // MADs
  unsigned log_interval_s = 60;    // between two readings of the logs; 0: never
  unsigned hop_ns = 180;           // through a switch and its cable
  unsigned occupancy_pct = 33;     // of buffers, under uniform traffic near saturation
  unsigned floor_hosts = 0;        // N: no host below 1/N of the slowest host link; 0: of all

  std::optional<unsigned> host_threshold;  // of switch ports before hosts, as the next
  std::optional<unsigned> host_marking_rate;

  std::optional<std::uint32_t> sw_control_map;
  std::optional<PortMask> victim_mask;
  std::optional<PortMask> credit_mask;
  std::optional<unsigned> threshold;
  std::optional<unsigned> packet_size;
  std::optional<unsigned> cs_threshold;
  std::optional<CctEntry> cs_return_delay;
  std::optional<unsigned> marking_rate;
  std::optional<unsigned> port_control;
  std::optional<unsigned> ca_control_map;
  BySl ccti_timer;
  BySl ccti_increase;
  BySl trigger_threshold;
  BySl ccti_min;
  std::optional<std::vector<CctEntry>> cct;
  std::vector<NodeOverride> nodes;  // ascending by GUID

  [[nodiscard]] const NodeOverride* find(Guid node) const {
    for (const NodeOverride& each : nodes) {
      if (each.node == node) return &each;
    }
    return nullptr;
  }

  friend bool operator==(const Options&, const Options&) = default;
};

}  // namespace smd::cc
