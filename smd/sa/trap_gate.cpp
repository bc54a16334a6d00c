#include "smd/sa/trap_gate.h"

#include <algorithm>

namespace smd::sa {
namespace {

/// Sources are looked through when there are so many.
constexpr std::size_t kMany = 4096;

}  // namespace

void TrapGate::offer(const Notice& notice) {
  if (sources_.size() >= kMany) forget_quiet();
  const Key key{notice.issuer_lid, notice.trap_or_device};
  Source& source = sources_[key];
  if (source.last) {
    source.last = notice;
    ++held_back_;
    return;
  }
  const Duration ahead = std::max(source.until, runtime_.now()) - runtime_.now();
  if (ahead <= (kBurst - 1) * kRefill) return pass(key, notice);
  ++held_back_;
  source.last = notice;
  source.timer = Timer(runtime_, runtime_.now() + (ahead - (kBurst - 1) * kRefill), [this, key] {
    Source& due = sources_.at(key);
    const Notice latest = *due.last;
    due.last.reset();
    pass(key, latest);
  });
}

void TrapGate::pass(const Key& key, const Notice& notice) {
  Source& source = sources_[key];
  source.until = std::max(source.until, runtime_.now()) + kRefill;
  tell_(notice);
}

void TrapGate::forget_quiet() {
  std::erase_if(sources_, [this](const auto& each) {
    return !each.second.last && each.second.until <= runtime_.now();
  });
}

}  // namespace smd::sa
