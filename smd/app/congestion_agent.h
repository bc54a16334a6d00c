// One agent of congestion control as the manager knows it, and what is to be asked of it next.
//
// A register is read before it is written, and read again after every Set: some agents answer a Set
// and keep what they had. What an agent refuses, or does not keep, is not asked of it again until
// the goal is another one or its port came up anew.
//
// An agent under a key that is not ours shows it once its owner's lease has ended, or never had
// any; else it shows it to those alone who know it, so that former keys of ours are tried. None of
// these questions counts as a violation (A10.4.1). With its own key it is told ours.
#pragma once

#include <optional>
#include <string>

#include "smd/app/congestion_goal.h"
#include "smd/app/congestion_registers.h"

namespace smd::app {

enum class CcStanding : std::uint8_t {
  Unknown,
  Managed,
  Unsupported,  // it says that it has no agent of this class
  Silent,
  ForeignKey  // another manager's CC_Key protects it
};

[[nodiscard]] std::string_view print_cc_standing(CcStanding standing);

class CcAgent {
 public:
  explicit CcAgent(bool is_switch) : is_switch_(is_switch) {}

  /// What was given up is tried again where the goal is new.
  void aim(CcGoal goal);

  /// Nothing that was known holds any more.
  void forget();

  /// Nothing is to be asked when there is none.
  [[nodiscard]] std::optional<CcRequest> next();

  /// Its MAD, without address and transaction id. Requires: `request` is the last of next().
  [[nodiscard]] MadBytes make(const CcRequest& request) const;

  /// Requires: `answer` is that to `request`, whatever its status.
  void take(const CcRequest& request, const MadBytes& answer);

  /// Nobody answered.
  void lose();

  /// A silent one, or one under a foreign key, is asked once more.
  void try_again();

  /// It is under a key that has a lease, which begins when somebody speaks with a wrong one, and
  /// nobody has done so for us yet: an owner that lives stops it again.
  [[nodiscard]] bool may_knock() const {
    return standing_ == CcStanding::ForeignKey && foreign_lease_s_ > 0 && !knocked_;
  }

  void note_knock() { knocked_ = true; }

  [[nodiscard]] bool knocked() const { return knocked_; }

  /// It may yet show the key that it is under.
  [[nodiscard]] bool waits_for_lease() const {
    return standing_ == CcStanding::ForeignKey && foreign_lease_s_ > 0;
  }

  /// That MADs to it carry.
  [[nodiscard]] cc::CcKey key() const { return borrowed_.value_or(goal_.key); }

  [[nodiscard]] CcStanding standing() const { return standing_; }

  [[nodiscard]] bool is_switch() const { return is_switch_; }

  [[nodiscard]] unsigned silences() const { return silences_; }

  /// It answers Sets and keeps what it had.
  [[nodiscard]] bool disobeys() const { return disobeyed_ > 0; }

  [[nodiscard]] bool refuses() const { return refused_ > 0; }

  /// Everything of the goal is confirmed.
  [[nodiscard]] bool is_as_wished() const;

  [[nodiscard]] const std::string& trouble() const { return trouble_; }

  [[nodiscard]] std::uint16_t violations() const {
    return registers_.key.held ? registers_.key.held->violations : std::uint16_t{0};
  }

 private:
  template <class T>
  std::optional<CcRequest> settle(CcRegister<T>& reg,
                                  const T& wish,
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
  CcGoal goal_;
  std::optional<cc::CcKey> borrowed_;  // that it is under, where that is not the goal's
  std::size_t tried_ = 0;              // of the former keys
  std::uint16_t foreign_lease_s_ = 0;
  bool knocked_ = false;
  CcStanding standing_ = CcStanding::Unknown;
  unsigned silences_ = 0;
  unsigned disobeyed_ = 0;
  unsigned refused_ = 0;
  std::string trouble_;
  std::optional<cc::CongestionInfo> info_;
  CcRegisters registers_;
};

}  // namespace smd::app
