// Whole mechanisms by name, and any marking with any reaction.
//
//   none           nothing
//   standard       FECN, BECN, the congestion control table: annex A10
//   renato-window  RPM, window of 1
//   renato         RPM, window of 1, LIPD
//   renato-fimd    RPM, window of 1, FIMD
//   pfister        OPM at 90 percent, Pfister's slots
//   iocm           IOPM, dynamic window, waiting slots, immediate recovery
//   mvcm           MVPM, the same
//
// Source: Ferrer 2012, 3.5, 6.2; IBA 1.2.1, annex A10.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim-backend/congestion/echo.h"
#include "sim-backend/congestion/ib_marking.h"
#include "sim-backend/congestion/ib_reaction.h"
#include "sim-backend/congestion/marking.h"
#include "sim-backend/congestion/window_reaction.h"

namespace smd::sim {

enum class MarkingKind : std::uint8_t { None, Ipm, Rpm, Opm, Iopm, Mvpm, Iba };
enum class EchoKind : std::uint8_t { None, Acknowledgements, Notifications };
enum class ReactionKind : std::uint8_t { None, Window, Iba };
enum class PaceKind : std::uint8_t { None, Slots, Fimd, Aimd, Lipd, Pfister };

/// Registers of annex A10 where nobody programs them.
struct IbaSpec {
  unsigned threshold = 11;    // 0 to 15; 11 marks above a third of the buffer
  unsigned marking_rate = 0;  // packets between two marks
  unsigned packet_size = 0;   // blocks of 64 bytes
  bool victims = true;        // ports before hosts mark as victims too
  unsigned increase = 1;
  unsigned limit = 127;  // entries 0 … limit, entry i delays by i packet times
  unsigned timer = 150;  // units of 1.024 us
  unsigned least = 0;    // CCTI_Min
  bool per_sl = false;
};

struct CongestionSpec {
  MarkingKind marking = MarkingKind::None;
  EchoKind echo = EchoKind::None;
  ReactionKind reaction = ReactionKind::None;
  MarkThresholds thresholds;
  WindowRule window;  // most 0: what the longest empty path holds
  PaceKind pace = PaceKind::None;
  Recovery recovery = Recovery::Immediate;
  Scope scope = Scope::Pair;
  unsigned radix = 0;   // k; 0: as the fabric is
  unsigned stages = 0;  // n; 0: as the fabric is
  cc::WaitCap cap = cc::WaitCap::Stages;
  Picos round_trip = 0;      // of an empty path; 0: as the fabric is
  unsigned hot_sources = 0;  // Pfister's hot-spot degree; 0: a fifth of the hosts
  IbaSpec iba;
};

/// False for a name that nobody knows.
[[nodiscard]] bool find_mechanism(std::string_view name, CongestionSpec& out);
[[nodiscard]] bool find_marking(std::string_view name, MarkingKind& out);
[[nodiscard]] bool find_pace(std::string_view name, PaceKind& out);

/// "none, standard, …"
[[nodiscard]] std::string list_mechanisms();

/// What a mechanism has to know of the fabric that it works in.
struct FabricFacts {
  std::uint32_t nodes = 0;
  HostNum hosts = 0;
  unsigned radix = 2;    // hosts of a leaf switch
  unsigned stages = 1;   // switches on the longest route, and one, halved
  Picos round_trip = 0;  // of the longest empty path, with the largest packet
  unsigned window = 2;   // such packets that fill it, rounded up
  unsigned switch_ports = 2;
  std::vector<std::pair<std::uint32_t, std::uint8_t>> host_ports;  // of switches: node, port
  ReplySl reply_sl;
};

class CongestionControl {
 public:
  CongestionControl(const CongestionSpec& spec, const FabricFacts& facts);

  /// Valid as long as this lives.
  [[nodiscard]] CongestionHooks hooks() const;

  /// Null where the mechanism has none of the kind.
  [[nodiscard]] WindowReaction* window() const { return window_; }

  [[nodiscard]] IbMarking* iba_marking() const { return iba_marking_; }

  [[nodiscard]] IbReaction* iba_reaction() const { return iba_reaction_; }

 private:
  void set_registers(const IbaSpec& spec, const FabricFacts& facts);

  std::unique_ptr<Marking> marking_;
  std::unique_ptr<Echo> echo_;
  std::unique_ptr<Reaction> reaction_;
  WindowReaction* window_ = nullptr;
  IbMarking* iba_marking_ = nullptr;
  IbReaction* iba_reaction_ = nullptr;
};

}  // namespace smd::sim
