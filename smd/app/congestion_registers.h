// The registers of one agent as far as they are known, and the MADs that read and write them.
#pragma once

#include <optional>
#include <vector>

#include "smd/mad/congestion.h"

namespace smd::app {

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

}  // namespace smd::app
