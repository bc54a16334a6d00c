#include "smd/discovery/discovery.h"

#include <utility>

namespace smd {

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
    std::exchange(done_, nullptr)(build_report(survey_, std::move(oddities_), epoch_));
  }

  Epoch epoch_;
  Done done_;
};

Discovery::Discovery(SmpClient& client, DiscoveryOptions options, Epoch epoch)
    : run_(std::make_unique<Run>(client, std::move(options), epoch)) {}

Discovery::~Discovery() = default;

void Discovery::start(Done done) { run_->start(std::move(done)); }

}  // namespace smd
