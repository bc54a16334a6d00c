// What the thesis printed, for the sizes that its experiments share, and runs over such sizes.
#pragma once

#include <array>

#include "sim-backend/experiments/change/subnet.h"
#include "sim-backend/lab/parallel.h"

namespace smd::sim {

/// Table 11: one sweep over all switches, seconds.
struct PublishedSweep {
  NetworkSize size;
  double time = 0;
};

inline constexpr std::array<PublishedSweep, 6> kTable11{{{{8, 15}, 0.001202668},
                                                         {{16, 30}, 0.002732652},
                                                         {{24, 46}, 0.003858949},
                                                         {{32, 53}, 0.004984007},
                                                         {{48, 112}, 0.007236010},
                                                         {{64, 146}, 0.009603447}}};

/// Means over single changes.
struct Published {
  double activation = 0;
  double deactivation = 0;

  [[nodiscard]] constexpr double of(bool comes) const { return comes ? activation : deactivation; }
};

/// Tables 16 (seconds) and 17 (SMPs).
struct PublishedDiscovery {
  NetworkSize size;
  Published full_time, partial_time;
  Published full_smps, partial_smps;
};

inline constexpr std::array<PublishedDiscovery, 6> kTables16And17{
    {{{8, 15}, {0.019588, 0.015764}, {0.008969, 0.003229}, {114.86, 90.43}, {42.86, 18.57}},
     {{16, 30}, {0.034173, 0.032886}, {0.009692, 0.004448}, {218.67, 203.07}, {50.00, 28.00}},
     {{24, 46}, {0.052466, 0.050199}, {0.010668, 0.006157}, {335.39, 320.26}, {61.52, 40.22}},
     {{32, 53}, {0.065045, 0.062717}, {0.011206, 0.006832}, {420.23, 404.52}, {68.55, 47.55}},
     {{48, 112}, {0.109690, 0.105454}, {0.013631, 0.008131}, {722.66, 700.19}, {91.94, 64.64}},
     {{64, 146}, {0.144177, 0.138611}, {0.015540, 0.009729}, {952.29, 922.63}, {109.84, 81.22}}}};

/// Table 20: entries that each algorithm computes.
struct PublishedEntries {
  NetworkSize size;
  double fera = 0;
  double pira = 0;
};

inline constexpr std::array<PublishedEntries, 10> kTable20{{{{8, 15}, 120, 50},
                                                            {{12, 23}, 276, 85},
                                                            {{16, 30}, 482, 122},
                                                            {{20, 40}, 800, 188},
                                                            {{24, 46}, 1108, 262},
                                                            {{32, 72}, 2304, 435},
                                                            {{40, 68}, 2740, 515},
                                                            {{48, 112}, 5417, 927},
                                                            {{64, 146}, 9353, 1220},
                                                            {{128, 218}, 27936, 2592}}};

/// Of the four mechanisms: full deactivation, cut-node ports, cut-node dependencies, none.
using PerMechanism = std::array<Published, 4>;

/// Tables 23 (seconds) and 24 (SMPs).
struct PublishedDistribution {
  NetworkSize size;
  PerMechanism time;
  PerMechanism smps;
};

inline constexpr std::array<PublishedDistribution, 4> kTables23And24{
    {{{8, 15},
      {{{0.031375, 0.024500}, {0.024821, 0.017499}, {0.024136, 0.016462}, {0.023703, 0.016287}}},
      {{{203.43, 157.71}, {156.00, 109.43}, {153.14, 107.71}, {153.14, 107.43}}}},
     {{16, 30},
      {{{0.060855, 0.056231}, {0.044557, 0.042236}, {0.043594, 0.040644}, {0.042955, 0.040250}}},
      {{{400.13, 369.87}, {287.47, 271.60}, {281.47, 267.20}, {281.47, 266.40}}}},
     {{24, 46},
      {{{0.094511, 0.087236}, {0.066868, 0.059473}, {0.064460, 0.057425}, {0.063467, 0.055523}}},
      {{{621.91, 572.52}, {434.00, 383.91}, {416.70, 375.04}, {416.70, 367.30}}}},
     {{32, 72},
      {{{0.132666, 0.123100}, {0.090293, 0.078830}, {0.084724, 0.075661}, {0.086265, 0.074411}}},
      {{{873.55, 810.58}, {589.10, 515.74}, {550.97, 498.06}, {566.19, 492.90}}}}}};

/// Table 25: packets discarded by each mechanism, after partial discovery.
struct PublishedTechnique {
  NetworkSize size;
  PerMechanism discarded;
};

inline constexpr std::array<PublishedTechnique, 4> kTable25{
    {{{8, 15},
      {{{22547.00, 42040.71}, {6252.57, 26641.29}, {1853.00, 24353.71}, {1917.67, 23713.71}}}},
     {{16, 30},
      {{{46365.80, 172831.67}, {13682.67, 128875.13}, {1993.50, 117324.47}, {2022.17, 112078.00}}}},
     {{24, 46},
      {{{99590.43, 285353.17}, {31600.22, 219504.61}, {2216.83, 197950.91}, {2242.89, 193230.65}}}},
     {{32, 72},
      {{{99143.30, 489517.29},
        {15202.47, 407008.87},
        {2651.92, 400437.03},
        {2814.75, 396729.77}}}}}};

/// Table 21, seconds from detection: partial discovery, full deactivation.
struct PublishedProvisional {
  NetworkSize size;
  Published basic;        // FERa alone
  Published provisional;  // PIRa's routes are in
  Published complete;     // and then FERa's
};

inline constexpr std::array<PublishedProvisional, 4> kTable21{
    {{{8, 15}, {0.071062, 0.048837}, {0.047234, 0.034208}, {0.080632, 0.055266}},
     {{16, 30}, {0.281818, 0.243874}, {0.120736, 0.108436}, {0.336237, 0.289714}},
     {{24, 46}, {0.774523, 0.691443}, {0.257605, 0.233344}, {0.935637, 0.833029}},
     {{32, 72}, {2.379867, 2.132043}, {0.633388, 0.573658}, {2.754186, 2.575702}}}};

/// Table 22: packets discarded in the runs of Table 21.
struct PublishedProvisionalLoss {
  NetworkSize size;
  Published basic;
  Published provisional;
};

inline constexpr std::array<PublishedProvisionalLoss, 4> kTable22{
    {{{8, 15}, {22416.29, 38641.86}, {23380.43, 37446.29}},
     {{16, 30}, {46272.07, 170542.47}, {48313.53, 193609.60}},
     {{24, 46}, {99295.22, 276721.57}, {103668.39, 207460.26}},
     {{32, 72}, {98899.97, 479645.65}, {102888.87, 215175.77}}}};

/// Table 28, seconds from detection until routes are in, provisional ones in the improved manager.
struct PublishedAssimilation {
  NetworkSize size;
  Published basic;
  Published improved;
};

inline constexpr std::array<PublishedAssimilation, 4> kTable28{
    {{{8, 15}, {0.084322, 0.061461}, {0.043018, 0.026079}},
     {{16, 30}, {0.309162, 0.262362}, {0.106540, 0.095271}},
     {{24, 46}, {0.820756, 0.735567}, {0.231911, 0.209227}},
     {{32, 72}, {2.444927, 2.195207}, {0.591356, 0.526156}}}};

/// Table 29: packets discarded at 25 % load, and what the hosts injected together then, per second
/// (Table 25 over the times of Table 23).
struct PublishedDiscards {
  NetworkSize size;
  Published basic;
  Published improved;
  double injected = 0;

  /// Of a host's link: 282 bytes with headers take 1.128 us on 1x SDR.
  [[nodiscard]] constexpr double load() const {
    return injected / (size.nodes - size.switches) * 1.128e-6;
  }
};

inline constexpr std::array<PublishedDiscards, 4> kTable29{
    {{{8, 15}, {25906.71, 47417.14}, {4400.33, 22447.86}, 0.719e6},
     {{16, 30}, {50959.20, 158143.00}, {1911.33, 54601.47}, 0.762e6},
     {{24, 46}, {110293.09, 301600.22}, {4012.22, 126093.39}, 1.054e6},
     {{32, 72}, {107490.55, 504065.81}, {5727.50, 132758.71}, 0.747e6}}};

/// Table 31: at 50 % load, with twice the packets of Table 29.
struct PublishedDoubleLoad {
  NetworkSize size;
  Published basic;
  Published improved;
};

inline constexpr std::array<PublishedDoubleLoad, 4> kTable31{
    {{{8, 15}, {51865.43, 94864.57}, {8754.33, 43835.71}},
     {{16, 30}, {102008.47, 298304.13}, {3776.00, 109209.60}},
     {{24, 46}, {220441.26, 603357.87}, {8060.00, 252187.26}},
     {{32, 72}, {214994.13, 1008262.00}, {11359.00, 265387.97}}}};

/// measure(FABRIC, preset) for each preset, in each the first `sizes` of a published table, and
/// `seeds` of each: added up over seeds.
template <class Sum, class Table, class Measure>
Result<std::vector<Sum>> collect_sizes(
    unsigned jobs, const Table& table, std::size_t sizes, std::size_t seeds, Measure measure) {
  return collect_groups<Sum>(
      jobs, kPresets.size() * sizes, seeds, [&](std::size_t group, std::size_t seed) {
        return measure(irregular4(table[group % sizes].size, seed), kPresets[group / sizes]);
      });
}

}  // namespace smd::sim
