// Three switches in a row, hosts that flood one of them, and one that only shares a link:
//
//   X1 \                    / V       X1, X2, Y1, Y2 send to Z all they can; X3, the victim, to V.
//   X2 - Sx ─ xy ─ Sy ─ yz ─ Sz - Z
//   X3 /          /  \.
//               Y1    Y2              V hangs on Sy.
#pragma once

#include <array>
#include <string_view>

#include "smd/base/result.h"

namespace smd::sim {

enum class VictimHost : std::uint8_t { X1, X2, X3, Y1, Y2, V, Z };

struct VictimShares {
  std::array<double, 7> of{};  // of a link, by VictimHost: what arrives of each once all is steady

  [[nodiscard]] double operator[](VictimHost host) const {
    return of[static_cast<std::size_t>(host)];
  }

  [[nodiscard]] double xy() const {
    return (*this)[VictimHost::X1] + (*this)[VictimHost::X2] + (*this)[VictimHost::X3];
  }

  [[nodiscard]] double yz() const { return xy() - (*this)[VictimHost::X3] + of[3] + of[4]; }
};

/// `mechanism`: as find_mechanism() knows it.
[[nodiscard]] Result<VictimShares> run_victim(std::string_view mechanism, bool with_victim);

}  // namespace smd::sim
