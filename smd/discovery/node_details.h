// What is asked of nodes and ports once the subnet is up, so that it delays nothing.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "smd/discovery/sweep_report.h"
#include "smd/mad/vendor.h"
#include "smd/smp/smp_client.h"

namespace smd {

// Node descriptions, asked for once the subnet is up so that they delay nothing.

class DescriptionFetch {
 public:
  /// What was learned; nodes that did not answer are not in it.
  using Done = std::function<void(std::map<Guid, std::string>)>;

  DescriptionFetch(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  DescriptionFetch(const DescriptionFetch&) = delete;

  /// Asks every node whose description in the snapshot is empty, and those of `again`. The report
  /// must stay alive.
  void start(const SweepReport& report, std::set<Guid> again, Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::map<Guid, std::string> found_;
};

// Which QDR links really run at FDR10: PortInfo cannot say it, the vendor attribute
// ExtendedPortInfo can. Asked of that vendor's ports only, once the subnet is up, since an agent
// without the attribute may not answer at all.

class Fdr10Fetch {
 public:
  /// The ports that run at FDR10, ascending.
  using Done = std::function<void(std::vector<PortIdx>)>;

  Fdr10Fetch(SmpClient& client, MKey m_key) : pump_(client), m_key_(m_key) {}

  Fdr10Fetch(const Fdr10Fetch&) = delete;

  /// Asks those of `ports` that may run at FDR10. The report must stay alive.
  void start(const SweepReport& report, std::vector<PortIdx> ports, Done done);

 private:
  SmpPump pump_;
  MKey m_key_;
  std::vector<PortIdx> found_;
};

// What another manager left switched on in switches that have it: adaptive routing, hash-based
// forwarding and forwarding tables of single ports send packets other ways than the linear
// forwarding tables say, of which everything here is proved. Asked for through GeneralInfo, of that
// vendor's switches only.

struct Leftover {
  Guid node;
  std::string what;      // "adaptive routing, hash-based forwarding"
  bool cleared = false;  // was, and is no longer

  friend bool operator==(const Leftover&, const Leftover&) = default;
};

class LeftoverFetch {
 public:
  /// What was on, by node; and switches that left a question unanswered, of which nothing more is
  /// known.
  using Done = std::function<void(std::vector<Leftover>, std::set<Guid> silent)>;

  /// `clears`: what is on is switched off.
  LeftoverFetch(SmpClient& client, MKey m_key, bool clears)
      : pump_(client), m_key_(m_key), clears_(clears) {}

  LeftoverFetch(const LeftoverFetch&) = delete;

  /// Asks these switches. The report must stay alive.
  void start(const SweepReport& report, std::vector<NodeIdx> switches, Done done);

 private:
  template <class Info>
  struct Attribute;

  [[nodiscard]] Guid guid_of(NodeIdx node) const { return report_->fabric->node_guid[node]; }

  [[nodiscard]] SmpRequest request(NodeIdx node,
                                   AttributeId attribute,
                                   std::uint32_t modifier = 0) const;

  /// What an agent that has the attribute answered.
  template <class Info>
  std::optional<Info> answer_of(NodeIdx node,
                                const Result<SmpReply>& reply,
                                Result<Info> (*decode)(std::span<const std::byte>));
  void on_general_info(NodeIdx node, const GeneralInfo& has);
  template <class Info>
  void ask(NodeIdx node, const Attribute<Info>& about);
  template <class Info>
  void clear(NodeIdx node, const Attribute<Info>& about, Info off, std::string what);

  SmpPump pump_;
  MKey m_key_;
  bool clears_;
  const SweepReport* report_ = nullptr;
  std::vector<Leftover> found_;
  std::set<Guid> silent_;
};

/// A linked port at QDR of the vendor that has the attribute.
[[nodiscard]] bool may_run_fdr10(const Fabric& fabric, PortIdx port);

}  // namespace smd
