#include "sim-backend/management/fabric_timeline.h"

#include <algorithm>

namespace smd::sim {

FabricTimeline::FabricTimeline(const Runtime& runtime, SimFabric& fabric)
    : runtime_(runtime),
      fabric_(fabric),
      oracle_(fabric),
      observer_(fabric.on_change(
          [this](std::uint32_t node, FabricChange what) { on_change(node, what); })) {
  restart();
}

FabricTimeline::~FabricTimeline() { fabric_.stop_observing(observer_); }

void FabricTimeline::restart() {
  samples_.clear();
  cycle_ = loop_ = shared_lid_ = std::nullopt;
  lowest_connectivity_ = 1;
  highest_deadlock_ = 0;
  changes_ = 0;
  take_sample();
}

void FabricTimeline::on_change(std::uint32_t node, FabricChange what) {
  if (what == FabricChange::Congestion) return;  // connects nothing, and blocks nothing
  ++changes_;
  oracle_.update(node, what);
  if (!shared_lid_ && (what == FabricChange::Ports || what == FabricChange::Wiring)) {
    if (std::string text = find_shared_lid(fabric_); !text.empty()) {
      shared_lid_ = {std::move(text), runtime_.now()};
    }
  }
  take_sample();
}

void FabricTimeline::take_sample() {
  const TimelineSample sample{runtime_.now(), oracle_.connectivity(), oracle_.deadlock()};
  if (!cycle_ && sample.deadlock.on_cycle > 0) cycle_ = {oracle_.find_cycle(), sample.at};
  if (!loop_) {
    if (std::string text = oracle_.find_loop(); !text.empty()) loop_ = {std::move(text), sample.at};
  }
  lowest_connectivity_ = std::min(lowest_connectivity_, sample.connectivity.level());
  highest_deadlock_ = std::max(highest_deadlock_, sample.deadlock.level());
  if (!samples_.empty()) {
    const TimelineSample& last = samples_.back();
    if (last.connectivity == sample.connectivity && last.deadlock == sample.deadlock) return;
    if (last.at == sample.at && samples_.size() > 1) samples_.pop_back();
  }
  samples_.push_back(sample);
}

}  // namespace smd::sim
