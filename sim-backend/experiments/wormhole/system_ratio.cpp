// Throughput of one system of routes against another, on irregular networks: 000-up-down,
// 000-baselines, 000-selection, 000-smart, 000-placement.
#include "sim-backend/experiments/tables.h"
#include "sim-backend/experiments/wormhole/worm_loads.h"

namespace smd::sim::system_ratio {
namespace {

constexpr ClaimSpec kUpDown[] = {
    ratio_claim(
        "H3", "UD_ITB carries 1.02, 1.42, 2.08, 2.94 times what UD does", "Flich 2001, table 6"),
    ratio_claim(
        "H4", "UD_MITB carries 1.01, 1.27, 1.60, 2.13 times what UD does", "Flich 2001, table 6"),
    ratio_claim(
        "H5", "DFS_ITB carries 1.03, 1.13, 1.47, 1.63 times what DFS does", "Flich 2001, table 6"),
};

constexpr ClaimSpec kBaselines[] = {
    ratio_claim(
        "H6-dfs", "DFS carries 1.05, 1.26, 1.39, 1.58 times what UD does", "Flich 2001, table 4"),
    ratio_claim("H6-smart",
                "smart-routing carries 1.35, 1.49, 1.79 times what UD does; ours is smart-like",
                "Flich 2001, table 4"),
    ratio_claim("H6-smart-dfs",
                "it carries 1.29, 1.19, 1.30 times what DFS does; ours is smart-like",
                "Flich 2001, table 4"),
};

constexpr ClaimSpec kSelection[] = {
    ratio_claim("H20-rotate",
                "taking UD's routes in turn carries 1.10, 1.05, 1.04, 1.02 times one of them",
                "Flich 2001, table 2"),
    ratio_claim("H20-random",
                "taking any of them carries 1.14, 1.05, 1.05, 1.04 times",
                "Flich 2001, table 2"),
    ratio_claim("H20-contention",
                "taking the least contended carries 1.14, 1.08, 1.05, 1.07 times",
                "Flich 2001, table 2"),
    ratio_claim("H20-gain",
                "the least contended carries 1.04, 1.03, 1.01, 1.05 times what turns do",
                "Flich 2001, table 3"),
};

constexpr ClaimSpec kSmart[] = {
    ratio_claim(
        "H7",
        "BSMART_ITB carries 1.00, 1.06, 1.26 times what smart-routing does; ours is smart-like",
        "Flich 2001, table 9"),
};

constexpr ClaimSpec kPlacement[] = {
    ratio_claim(
        "H8-ud", "BMIN carries 1.44, 1.99, 2.80 times what UD does", "Flich 2001, table 15"),
    ratio_claim("H8-random",
                "BMIN carries 1.21, 1.18, 1.16 times what RANDOM does",
                "Flich 2001, table 15"),
    ratio_claim(
        "H8-bsmart", "BMIN carries 1.03, 1.03 times what BSMART does", "Flich 2001, table 15"),
    ratio_claim(
        "H1", "BMAX carries 1.42, 1.85, 2.98, 4.11 times what UD does", "Flich 2001, table 18"),
    ratio_claim("H10-bmin",
                "BMAX carries 1.07, 1.18, 1.34, 1.36 times what BMIN does",
                "Flich 2001, table 18"),
    ratio_claim("H10-b33",
                "BMAX carries 1.04, 1.09, 1.22, 1.13 times what B33 does",
                "Flich 2001, table 18"),
    ratio_claim("H10-b50",
                "BMAX carries 1.00, 1.03, 1.08, 1.01 times what B50 does",
                "Flich 2001, table 18"),
    ratio_claim("H10-b66",
                "BMAX carries 1.02, 1.03, 1.12, 1.05 times what B66 does",
                "Flich 2001, table 18"),
};

const std::vector<RatioTable>& tables() {
  static const std::vector<RatioTable> all{
      {"000-up-down",
       "Flich 2001, table 6",
       "Hosts that take messages in between, under up*/down*",
       kUpDown,
       {{"H3",
         "UD_ITB",
         "UD",
         {{8, 1.02, .94, 1.22},
          {16, 1.42, 1.27, 1.56},
          {32, 2.08, 1.71, 2.47},
          {64, 2.94, 2.34, 3.52}}},
        {"H4",
         "UD_MITB",
         "UD",
         {{8, 1.01, .94, 1.10},
          {16, 1.27, 1.05, 1.40},
          {32, 1.60, 1.24, 1.86},
          {64, 2.13, 1.71, 2.41}}},
        {"H5",
         "DFS_ITB",
         "DFS",
         {{8, 1.03, .97, 1.08},
          {16, 1.13, .93, 1.28},
          {32, 1.47, 1.32, 1.62},
          {64, 1.63, 1.33, 1.92}}}}},
      {"000-baselines",
       "Flich 2001, table 4",
       "Routes without stops: up*/down* breadth-first and depth-first, smart-like",
       kBaselines,
       {{"H6-dfs",
         "DFS",
         "UD",
         {{8, 1.05, .91, 1.38},
          {16, 1.26, 1.00, 1.48},
          {32, 1.39, 1.08, 1.86},
          {64, 1.58, 1.29, 1.96}}},
        {"H6-smart",
         "SMART_LIKE",
         "UD",
         {{8, 1.35, 1.22, 1.52}, {16, 1.49, 1.26, 1.80}, {32, 1.79, 1.42, 2.07}}},
        {"H6-smart-dfs",
         "SMART_LIKE",
         "DFS",
         {{8, 1.29, 1.10, 1.50}, {16, 1.19, 1.05, 1.35}, {32, 1.30, 1.05, 1.43}}}}},
      {"000-selection",
       "Flich 2001, tables 2 and 3",
       "Which of up to ten up*/down* routes a message takes",
       kSelection,
       {{"H20-rotate",
         "RRSUD",
         "UD",
         {{8, 1.10, 1.00, 1.20},
          {16, 1.05, .98, 1.10},
          {32, 1.04, 1.00, 1.09},
          {64, 1.02, 1.00, 1.08}}},
        {"H20-random",
         "RSUD",
         "UD",
         {{8, 1.14, 1.01, 1.25},
          {16, 1.05, .98, 1.12},
          {32, 1.05, 1.00, 1.13},
          {64, 1.04, 1.00, 1.08}}},
        {"H20-contention",
         "DET",
         "UD",
         {{8, 1.14, 1.01, 1.25},
          {16, 1.08, 1.01, 1.14},
          {32, 1.05, .99, 1.14},
          {64, 1.07, 1.00, 1.11}}},
        {"H20-gain",
         "DET",
         "RRSUD",
         {{8, 1.04, .92, 1.11},
          {16, 1.03, .97, 1.07},
          {32, 1.01, .94, 1.05},
          {64, 1.05, 1.00, 1.11}}}}},
      {"000-smart",
       "Flich 2001, table 9",
       "Balanced routes with stops against smart-like ones without",
       kSmart,
       {{"H7",
         "BSMART_ITB",
         "SMART_LIKE",
         {{8, 1.00, .90, 1.11}, {16, 1.06, .98, 1.12}, {32, 1.26, 1.15, 1.37}}}}},
      {"000-placement",
       "Flich 2001, tables 15 and 18",
       "Balanced shortest routes, and at how many switches hosts take messages in",
       kPlacement,
       {{"H8-ud",
         "BMIN_ITB",
         "UD",
         {{16, 1.44, 1.21, 1.63}, {32, 1.99, 1.65, 2.30}, {64, 2.80, 2.34, 3.25}}},
        {"H8-random",
         "BMIN_ITB",
         "RANDOM_ITB",
         {{16, 1.21, 1.07, 1.39}, {32, 1.18, 1.08, 1.27}, {64, 1.16, 1.00, 1.27}}},
        {"H8-bsmart", "BMIN_ITB", "BSMART_ITB", {{16, 1.03, .95, 1.13}, {32, 1.03, .99, 1.12}}},
        {"H1",
         "BMAX_ITB",
         "UD",
         {{8, 1.42, 1.30, 1.69},
          {16, 1.85, 1.42, 2.12},
          {32, 2.98, 2.44, 3.42},
          {64, 4.11, 3.42, 4.67}}},
        {"H10-bmin",
         "BMAX_ITB",
         "BMIN_ITB",
         {{8, 1.07, .99, 1.15},
          {16, 1.18, .89, 1.26},
          {32, 1.34, 1.27, 1.41},
          {64, 1.36, 1.24, 1.42}}},
        {"H10-b33",
         "BMAX_ITB",
         "B33_ITB",
         {{8, 1.04, .98, 1.11},
          {16, 1.09, .89, 1.18},
          {32, 1.22, 1.14, 1.33},
          {64, 1.13, 1.09, 1.22}}},
        {"H10-b50",
         "BMAX_ITB",
         "B50_ITB",
         {{8, 1.00, .95, 1.03},
          {16, 1.03, 1.00, 1.15},
          {32, 1.08, 1.06, 1.15},
          {64, 1.01, 1.00, 1.09}}},
        {"H10-b66",
         "BMAX_ITB",
         "B66_ITB",
         {{8, 1.02, 1.00, 1.07},
          {16, 1.03, 1.00, 1.08},
          {32, 1.12, 1.07, 1.15},
          {64, 1.05, 1.00, 1.10}}}}},
  };
  return all;
}

}  // namespace
}  // namespace smd::sim::system_ratio

namespace smd::sim {

std::vector<Experiment> system_ratio_tables() { return list_experiments(system_ratio::tables()); }

}  // namespace smd::sim
