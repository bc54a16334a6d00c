// One agent of congestion control: what it shall hold, what it holds, and what is asked next.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/congestion/plan.h"
#include "smd/mad/congestion.h"

namespace smd {

/// Absent parts are left as they are.
struct CcTarget {
  cc::CcKey key;                       // of every MAD
  std::vector<cc::CcKey> former;       // that it may still be under, the likeliest first
  std::optional<cc::KeyInfo> protect;  // the violations do not count
  Lid trap_lid;                        // unassigned: traps are not asked for
  std::optional<cc::SwitchSetting> of_switch;
  std::vector<cc::PortSettingBlock> of_ports;  // of a switch
  std::optional<cc::CaTarget> of_adapter;

  friend bool operator==(const CcTarget&, const CcTarget&) = default;
};

/// Of one agent: a switch, where `port` is 0, or a port of an adapter.
/// Requires: `node` is of `fabric`, whose plan this is; traps go to `our_lid`.
[[nodiscard]] CcTarget build_cc_target(const cc::Plan& plan,
                                       const cc::Options& options,
                                       const Fabric& fabric,
                                       NodeIdx node,
                                       PortNum port,
                                       Lid our_lid);

/// The violations do not count.
[[nodiscard]] bool holds(const cc::KeyInfo& held, const cc::KeyInfo& wanted);

/// Only where traps go counts.
[[nodiscard]] bool holds(const cc::ClassPortInfo& held, const cc::ClassPortInfo& wanted);

/// Only what the control map names counts.
[[nodiscard]] bool holds(const cc::SwitchSetting& held, const cc::SwitchSetting& wanted);

/// Likewise of the SLs.
[[nodiscard]] bool holds(const cc::CaSetting& held, const cc::CaSetting& wanted);

[[nodiscard]] bool holds(const cc::CctBlock& held, const cc::CctBlock& wanted);

/// What is not valid counts as one thing.
[[nodiscard]] bool holds(const cc::PortSettingBlock& held, const cc::PortSettingBlock& wanted);

// The registers of one agent as far as they are known, and the MADs that read and write them.

struct CcRequest {
  bool set = false;
  cc::Attribute attribute = cc::Attribute::CongestionKeyInfo;
  std::uint32_t modifier = 0;
};

/// Without address, transaction id and data.
[[nodiscard]] MadBytes make_cc_mad(const CcRequest& request, cc::CcKey key);

/// A register: what was last read, and what was last set.
template <class T>
struct CcRegister {
  std::optional<T> held;
  std::optional<T> asked;
  bool given_up = false;
};

/// What a request does to the register it is about. A block beyond the table is none.
struct CcRegisters {
  CcRegister<cc::KeyInfo> key;
  CcRegister<cc::ClassPortInfo> traps;
  CcRegister<cc::SwitchSetting> of_switch;
  std::vector<CcRegister<cc::PortSettingBlock>> of_ports;
  CcRegister<cc::CaSetting> of_adapter;
  std::vector<CcRegister<cc::CctBlock>> table;

  /// The data of an answer to a Get.
  void take(const CcRequest& request, const MadBytes& answer);

  /// The data of a Set. Requires: `asked` of that register.
  void write(const CcRequest& request, MadBytes& mad) const;

  /// After a Set: what it holds now is to be read.
  void unread(const CcRequest& request);

  void give_up(const CcRequest& request);

  /// Nothing is given up any more.
  void try_all();
};

// One agent of congestion control as the manager knows it, and what is to be asked of it next.
//
// A register is read before it is written, and read again after every Set: some agents answer a Set
// and keep what they had. What an agent refuses, or does not keep, is not asked of it again until
// the goal is another one or its port came up anew.
//
// An agent under a key that is not ours shows it once its owner's lease has ended, or never had
// any; else it shows it to those alone who know it, so that former keys of ours are tried. None of
// these questions counts as a violation (A10.4.1). With its own key it is set to ours.

enum class CcAgentStatus : std::uint8_t {
  Unknown,
  Managed,
  Unsupported,  // it says that it has no agent of this class
  Silent,
  ForeignKey  // another manager's CC_Key protects it
};

[[nodiscard]] std::string_view print_cc_agent_status(CcAgentStatus status);

class CcAgent {
 public:
  explicit CcAgent(bool is_switch) : is_switch_(is_switch) {}

  /// What was given up is tried again where the goal is new.
  void set_target(CcTarget target);

  /// Nothing that was known holds any more.
  void forget();

  /// Nothing is to be asked when there is none.
  [[nodiscard]] std::optional<CcRequest> next();

  /// Its MAD, without address and transaction id. Requires: `request` is the last of next().
  [[nodiscard]] MadBytes make(const CcRequest& request) const;

  /// Requires: `answer` is that to `request`, whatever its status.
  void take(const CcRequest& request, const MadBytes& answer);

  /// Nobody answered.
  void on_timeout();

  /// A silent one, or one under a foreign key, is asked once more.
  void try_again();

  /// It is under a key that has a lease, which begins when somebody speaks with a wrong one, and
  /// nobody has done so for us yet: an owner that lives stops it again.
  [[nodiscard]] bool may_probe_lease() const {
    return status_ == CcAgentStatus::ForeignKey && foreign_lease_s_ > 0 && !lease_probed_;
  }

  void note_lease_probe() { lease_probed_ = true; }

  [[nodiscard]] bool lease_probed() const { return lease_probed_; }

  /// It may yet show the key that it is under.
  [[nodiscard]] bool waits_for_lease() const {
    return status_ == CcAgentStatus::ForeignKey && foreign_lease_s_ > 0;
  }

  /// That MADs to it carry.
  [[nodiscard]] cc::CcKey key() const { return foreign_key_.value_or(target_.key); }

  [[nodiscard]] CcAgentStatus status() const { return status_; }

  [[nodiscard]] bool is_switch() const { return is_switch_; }

  [[nodiscard]] unsigned timeouts() const { return timeouts_; }

  /// Since forget(): an agent is there, and holds what it was told last.
  [[nodiscard]] bool has_answered() const { return has_answered_; }

  /// It answers Sets and keeps what it had.
  [[nodiscard]] bool disobeys() const { return disobeyed_ > 0; }

  [[nodiscard]] bool refuses() const { return refused_ > 0; }

  /// Everything of the goal is confirmed.
  [[nodiscard]] bool is_confirmed() const;

  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  [[nodiscard]] std::uint16_t violations() const {
    return registers_.key.held ? registers_.key.held->violations : std::uint16_t{0};
  }

 private:
  template <class T>
  std::optional<CcRequest> reconcile(CcRegister<T>& reg,
                                     const T& wanted,
                                     cc::Attribute attribute,
                                     std::uint32_t modifier = 0);
  void take_key(const cc::KeyInfo& info);
  void take_get(const CcRequest& request, const MadBytes& answer);
  void unread_all();
  void give_up(const CcRequest& request, std::string_view why);
  std::optional<CcRequest> next_of_key();
  std::optional<CcRequest> next_of_traps();
  std::optional<CcRequest> next_of_switch();
  std::optional<CcRequest> next_of_adapter();

  bool is_switch_;
  CcTarget target_;
  std::optional<cc::CcKey> foreign_key_;  // that it is under, where that is not the goal's
  std::size_t former_keys_tried_ = 0;     // of the former keys
  std::uint16_t foreign_lease_s_ = 0;
  bool lease_probed_ = false;
  CcAgentStatus status_ = CcAgentStatus::Unknown;
  unsigned timeouts_ = 0;
  bool has_answered_ = false;
  unsigned disobeyed_ = 0;
  unsigned refused_ = 0;
  std::string trouble_;
  std::optional<cc::CongestionInfo> info_;
  CcRegisters registers_;
};

}  // namespace smd
