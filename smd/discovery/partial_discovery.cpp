#include "smd/discovery/partial_discovery.h"

#include <utility>

#include "smd/discovery/lean_run.h"
#include "smd/discovery/literal_run.h"

namespace smd {
namespace {

/// Why there is nothing to start from; empty when there is.
std::string find_gap(const KnownSubnet& known, bool literal) {
  if (known.sweep == nullptr || known.sweep->fabric == nullptr ||
      known.sweep->fabric->node_count() == 0) {
    return "nothing is known yet";
  }
  if (!literal) return "";
  const Fabric& fabric = *known.sweep->fabric;
  const bool has_routes = known.lids != nullptr && known.lft != nullptr &&
                          known.lids->base.size() == fabric.port_count() &&
                          known.lft->switches() == fabric.switch_count() &&
                          known.lft->top() >= known.lids->top;
  return has_routes ? "" : "there are no routes to what is known";
}

}  // namespace

PartialDiscovery::PartialDiscovery(SmpClient& client, PartialOptions options, Epoch epoch)
    : client_(client), options_(std::move(options)), epoch_(epoch) {}

PartialDiscovery::~PartialDiscovery() = default;

void PartialDiscovery::start(const KnownSubnet& known, std::vector<Guid> suspects, Done done) {
  std::string gap = find_gap(known, options_.literal);
  if (!gap.empty()) return done(PartialReport{.full_needed = std::move(gap)});
  if (options_.literal) {
    run_ = std::make_unique<LiteralRun>(client_, options_, epoch_, known, std::move(done));
  } else {
    run_ = std::make_unique<LeanRun>(
        client_, options_, epoch_, known, std::move(suspects), std::move(done));
  }
  run_->start();
}

}  // namespace smd
