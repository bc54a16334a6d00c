// One agent of congestion control as the manager knows it, and what is to be asked of it next.
//
// A register is read before it is written, and read again after every Set: some agents answer a Set
// and keep what they had. What an agent refuses, or does not keep, is not asked of it again until
// the goal is another one or its port came up anew.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "smd/congestion/plan.h"

namespace smd::app {

enum class CcStanding : std::uint8_t {
  Unknown,
  Managed,
  Unsupported,  // it says that it has no agent of this class
  Silent,
  ForeignKey  // another manager's CC_Key protects it
};

[[nodiscard]] std::string_view print_cc_standing(CcStanding standing);

/// What an agent shall hold. Absent parts are left as they are.
struct CcGoal {
  cc::CcKey key;                       // of every MAD
  std::optional<cc::KeyInfo> protect;  // the violations do not count
  Lid trap_lid;                        // unassigned: traps are not asked for
  std::optional<cc::SwitchSetting> of_switch;
  std::optional<cc::CaWish> of_adapter;

  friend bool operator==(const CcGoal&, const CcGoal&) = default;
};

struct CcRequest {
  bool set = false;
  cc::Attribute attribute = cc::Attribute::CongestionKeyInfo;
  std::uint32_t modifier = 0;
};

/// A register: what was last read, and what was last set.
template <class T>
struct CcRegister {
  std::optional<T> held;
  std::optional<T> asked;
  bool given_up = false;
};

class CcAgent {
 public:
  explicit CcAgent(bool is_switch) : is_switch_(is_switch) {}

  /// What was given up is tried again where the goal is new.
  void aim(const CcGoal& goal);

  /// Nothing that was known holds any more.
  void forget();

  /// Nothing is to be asked when there is none.
  [[nodiscard]] std::optional<CcRequest> next();

  /// The MAD of a request, without address and transaction id.
  [[nodiscard]] MadBytes make(const CcRequest& request) const;

  /// Requires: `answer` is that to `request`, whatever its status.
  void take(const CcRequest& request, const MadBytes& answer);

  /// Nobody answered.
  void lose();

  /// A silent one, or one under a foreign key, is asked once more.
  void try_again();

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
    return key_.held ? key_.held->violations : std::uint16_t{0};
  }

 private:
  template <class T, class Holds>
  std::optional<CcRequest> settle(CcRegister<T>& reg,
                                  const T& wish,
                                  cc::Attribute attribute,
                                  std::uint32_t modifier,
                                  Holds holds);
  void take_key(const cc::KeyInfo& info);
  void take_get(const CcRequest& request, const MadBytes& answer);
  void unread(const CcRequest& request);
  void unread_all();
  void give_up(const CcRequest& request, std::string trouble);
  [[nodiscard]] cc::ClassPortInfo trap_wish() const;
  std::optional<CcRequest> next_of_adapter();

  bool is_switch_;
  CcGoal goal_;
  CcStanding standing_ = CcStanding::Unknown;
  unsigned silences_ = 0;
  unsigned disobeyed_ = 0;
  unsigned refused_ = 0;
  std::string trouble_;

  std::optional<cc::CongestionInfo> info_;
  CcRegister<cc::KeyInfo> key_;
  CcRegister<cc::ClassPortInfo> traps_;
  CcRegister<cc::SwitchSetting> switch_;
  CcRegister<cc::CaSetting> ca_;
  std::vector<CcRegister<cc::CctBlock>> table_;
};

}  // namespace smd::app
