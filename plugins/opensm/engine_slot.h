// One of our engines as OpenSM sees it: a name and callbacks.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "plugins/opensm/options.h"
#include "plugins/opensm/shared_routes.h"
#include "plugins/opensm/snapshot.h"

namespace smd::opensm {

/// Of a switch, its outputs that have fewer VLs than their SL-to-VL tables want.
using CutPorts = std::set<std::pair<Guid, PortNum>>;

/// What all engines of the plugin have in common.
struct PluginState {
  osm_opensm_t& osm;
  Options options;
  SharedRoutes in_force;

  // The sweep thread's.
  std::uint64_t sweeps = 0;
  CutPorts cut;               // in this sweep
  CutPorts cut_before;        // in the one before, after which this one was asked for
  bool cache_is_off = false;  // use_ucast_cache, until tables are computed again
};

/// OpenSM keeps its address as the engine's context, from registration to its own end.
class EngineSlot {
 public:
  EngineSlot(PluginState& state, const Engine& engine)
      : state_(state), engine_(engine), name_("smd-" + std::string(engine.name())) {}

  EngineSlot(const EngineSlot&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }

  [[nodiscard]] osm_opensm_t& osm() const { return state_.osm; }

  /// Adds the engine to those that `routing_engine` may name. False when OpenSM does not want it.
  [[nodiscard]] bool register_with_opensm();

  /// First half of a sweep: computes and checks, then fills OpenSM's LID matrices. Refused, with
  /// the reason in the log, leaves everything as OpenSM prepared it for its next engine. Where
  /// there is none (`no_fallback`) and switches hold tables of ours, those stay, and the sweep ends
  /// with errors.
  [[nodiscard]] bool prepare();

  /// Second half: fills OpenSM's tables; what was prepared is in force from here on.
  [[nodiscard]] bool hand_over();

  [[nodiscard]] std::uint8_t path_sl(std::uint8_t hint, Lid source, Lid destination) const;

  /// SL to VL of a switch from `in` to `out`, or of an end port.
  void fill_sl_to_vl(const osm_physp_t& port,
                     std::uint8_t in,
                     std::uint8_t out,
                     ib_slvl_table_t& table);

  /// After SUBNET UP: OpenSM sweeps once more when this sweep cut VLs, and other ports' than the
  /// one before.
  void finish_sweep();

 private:
  struct Prepared {
    Snapshot snapshot;
    std::shared_ptr<const Routes> routes;
    bool kept = false;  // what switches hold, and not what was computed
  };

  [[nodiscard]] Result<Prepared> compute();
  [[nodiscard]] bool is_last() const;
  [[nodiscard]] std::optional<Prepared> keep_in_force();
  void ask_for_sl_to_vl(bool needed);

  PluginState& state_;
  const Engine& engine_;
  std::string name_;
  std::optional<Prepared> prepared_;  // from one half of a sweep to the other
};

}  // namespace smd::opensm
