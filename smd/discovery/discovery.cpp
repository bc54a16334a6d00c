#include "smd/discovery/discovery.h"

#include <utility>

#include "smd/discovery/suspect_run.h"
#include "smd/discovery/thesis_run.h"

namespace smd {

class FullRun : public Explorer {
 public:
  FullRun(SmpClient& client, DiscoveryOptions options, Epoch epoch)
      : Explorer(client, std::move(options)), epoch_(epoch) {}

  void start(Discovery::Done done) {
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
  Discovery::Done done_;
};

namespace {

bool is_known(const KnownSubnet& known) {
  return known.sweep != nullptr && known.sweep->fabric != nullptr &&
         known.sweep->fabric->node_count() != 0;
}

}  // namespace

Discovery::Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch) {
  if (options.requests == RequestSet::Thesis) {
    run_ = std::make_unique<ThesisExplorer<FullRun>>(client, std::move(options), epoch);
  } else {
    run_ = std::make_unique<FullRun>(client, std::move(options), epoch);
  }
}

Discovery::~Discovery() = default;

void Discovery::start(Done done) { run_->start(std::move(done)); }

PartialDiscovery::PartialDiscovery(SmpClient& client, DiscoveryOptions options, Epoch epoch)
    : client_(client), options_(std::move(options)), epoch_(epoch) {}

PartialDiscovery::~PartialDiscovery() = default;

void PartialDiscovery::start(const KnownSubnet& known,
                             std::vector<Guid> suspects,
                             std::vector<PortRef> ports,
                             Done done) {
  if (!is_known(known)) return done(PartialReport{.full_needed = "nothing is known yet"});
  if (options_.requests == RequestSet::Thesis) {
    if (!ThesisRun::has_routes(known))
      return done(PartialReport{.full_needed = "there are no routes to what is known"});
    run_ = std::make_unique<ThesisRun>(client_, options_, epoch_, known, std::move(done));
  } else {
    run_ = std::make_unique<SuspectRun>(
        client_, options_, epoch_, known, std::move(suspects), std::move(ports), std::move(done));
  }
  run_->start();
}

}  // namespace smd
