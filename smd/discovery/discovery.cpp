#include "smd/discovery/discovery.h"

#include <utility>

#include "smd/discovery/literal_run.h"
#include "smd/discovery/suspect_run.h"

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

class Discovery::Run final : public Explorer {
 public:
  Run(SmpClient& client, DiscoveryOptions options, Epoch epoch)
      : Explorer(client, std::move(options)), epoch_(epoch) {}

  void start(Done done) {
    done_ = std::move(done);
    ask_local_node();
  }

 private:
  void on_step() override {
    if (fatal_) {
      stop();
      return std::exchange(done_, nullptr)(tl::unexpected<Error>(*fatal_));
    }
    pump_probes();
    while (!is_asking() && settle_links()) pump_probes();
    if (is_asking() || !done_) return;
    std::exchange(done_, nullptr)(build_report(survey_, std::move(anomalies_), epoch_));
  }

  Epoch epoch_;
  Done done_;
};

Discovery::Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch)
    : run_(std::make_unique<Run>(client, std::move(options), epoch)) {}

Discovery::~Discovery() = default;

void Discovery::start(Done done) { run_->start(std::move(done)); }

PartialDiscovery::PartialDiscovery(SmpClient& client, PartialOptions options, Epoch epoch)
    : client_(client), options_(std::move(options)), epoch_(epoch) {}

PartialDiscovery::~PartialDiscovery() = default;

void PartialDiscovery::start(const KnownSubnet& known, std::vector<Guid> suspects, Done done) {
  std::string gap = find_gap(known, options_.literal);
  if (!gap.empty()) return done(PartialReport{.full_needed = std::move(gap)});
  if (options_.literal) {
    run_ = std::make_unique<LiteralRun>(client_, options_, epoch_, known, std::move(done));
  } else {
    run_ = std::make_unique<SuspectRun>(
        client_, options_, epoch_, known, std::move(suspects), std::move(done));
  }
  run_->start();
}

}  // namespace smd
