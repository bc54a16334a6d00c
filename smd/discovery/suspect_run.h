// Partial discovery for a product: only switches that something points at are asked.
//
// Two steps take turns until nothing is left to ask. Reading: every suspect by the shortest path
// over links that are not known to be gone, suspects on the way first; a link that came or went
// makes the switch at its other end a suspect. Since that one may be dead, the switch before it on
// the way is asked first whether the link between them is up, and is a suspect, too, if it is not.
// A switch whose path breaks while it is asked is asked again over what is left. Exploring: across
// every port that is up and leads nowhere known. So a dead switch is not asked while an answer can
// tell that it is dead: no timeout is waited for.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "smd/discovery/partial_run.h"
#include "smd/discovery/survey.h"

namespace smd {

class SuspectRun final : public PartialRun {
 public:
  SuspectRun(SmpClient& client,
             const DiscoveryOptions& options,
             Epoch epoch,
             const KnownSubnet& known,
             std::vector<Guid> suspects,
             std::vector<PortRef> ports,
             PartialDiscovery::Done done);

  void start() override;

 private:
  /// How a switch is to be asked.
  struct ChangeHint {
    std::set<PortNum> ports;   // to be read even if PortStateChange is clear
    bool may_be_dead = false;  // the link to it on the way is looked at first
    bool waits = false;        // that is being done
  };

  void on_step() override;
  void on_read(std::uint32_t node, const SwitchReader::Reading& reading) override;
  void on_silent(std::uint32_t node, std::string why) override;

  void on_port_down(LinkEnd end) override { unlink(end); }

  void on_port_up(LinkEnd end) override { probe(end); }

  [[nodiscard]] bool has_retrained(PortState, PortState now) const override {
    return now == PortState::Initialize;
  }

  bool may_join(LinkEnd from, LinkEnd arrival) override;
  void on_joined(LinkEnd a, LinkEnd b) override;
  bool is_stale(std::uint32_t node) override;

  void on_out_of_reach(LinkEnd from) override { stranded_.push_back(from); }

  void unlink(LinkEnd end) override;
  std::optional<SmpRoute> route_to(std::uint32_t node) override;
  std::size_t room() override;

  void check_own_port();
  void add_first_suspects();
  [[nodiscard]] bool is_unread(std::uint32_t node) const;
  void suspect(std::uint32_t node);
  void suspect_end(LinkEnd end);
  void suspect_port(const PortRef& port);
  void recheck_links(std::uint32_t node);
  void recheck_came_up(std::uint32_t node, bool explained);
  void ask_who_is_there(LinkEnd end, LinkEnd known);
  [[nodiscard]] bool came_up(LinkEnd end) const;
  void doubt(LinkEnd end, LinkEnd came_up);
  bool start_reading();
  bool ask_last_hop(std::uint32_t node, ChangeHint& hint);
  [[nodiscard]] bool has_suspect_before(std::uint32_t node) const;
  void on_unknown_switch(std::uint32_t node);
  void explore();
  bool read_lost_and_found();
  void probe_stranded();
  [[nodiscard]] bool knows_all_suspects();
  RouteTree& current_tree();

  std::vector<Guid> first_suspects_;
  std::vector<PortRef> first_ports_;
  std::map<std::uint32_t, ChangeHint> suspects_;  // to be read, some perhaps out of reach
  bool new_suspects_ = false;
  unsigned asked_last_hops_ = 0;
  std::set<std::uint32_t> read_;
  std::set<LinkEnd> rechecked_;             // of known_.came_up
  std::set<std::uint32_t> failed_;          // did not answer once
  std::vector<std::uint32_t> unreachable_;  // lost their path since it was last looked at
  std::set<std::uint32_t> lost_;            // out of reach when a reading was over
  std::vector<LinkEnd> held_;               // lead to a port that an unread switch claims
  std::vector<LinkEnd> stranded_;           // to be probed when they are found again
  RouteTree tree_;
  bool tree_is_old_ = false;  // links came or went
  bool tree_lacks_ = false;   // perhaps a node that can be reached
  bool one_by_one_ = false;
  bool started_ = false;
};

}  // namespace smd
