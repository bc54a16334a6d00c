#include "sim-backend/experiments/congestion/hot_spot_claims.h"

namespace smd::sim {
namespace {

constexpr ClaimSpec kClaims[] = {
    {.id = "R1",
     .text =
         "IPM and RPM mark 93 percent of hot packets, OPM 98; 5 to 11 percent of cold ones, RPM "
         "more of them than IPM",
     .source = "Ferrer 2012, Figure 4.3"},
    {.id = "R2",
     .text = "IOPM gives both marks to 98 percent of hot packets and 3 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.7"},
    {.id = "R3",
     .text = "MVPM validates 97 percent of hot packets and 0.1 percent of cold ones",
     .source = "Ferrer 2012, Figure 4.11"},
    {.id = "R6",
     .text = "without congestion control cold packets take more than 140,000 cycles and their "
             "throughput collapses",
     .source = "Ferrer 2012, Figures 8.4 to 8.6"},
    {.id = "R7-cold",
     .text = "MVCM keeps cold packets below 4,000 cycles at medium load, at least 35 times less",
     .source = "Ferrer 2012, Figure 8.7"},
    {.id = "R7-link",
     .text = "MVCM keeps the hot spot's link busy throughout",
     .source = "Ferrer 2012, Figure 8.10"},
    {.id = "R8",
     .text =
         "at low and high load MVCM cuts the peak from 100,000 to 2,000 and from 300,000 to 4,000",
     .source = "Ferrer 2012, Figure 8.11"},
    {.id = "R11",
     .text =
         "at medium and high load cold latency grows from IOCM and MVCM over Pfister and Renato "
         "to none",
     .source = "Ferrer 2012, Figure 8.20"},
    {.id = "R12",
     .text =
         "at medium load all four stay below 10,000; MVCM and IOCM are 3 times below Renato and "
         "2 times below Pfister",
     .source = "Ferrer 2012, Figure 8.21"},
    {.id = "R13",
     .text = "hot packets: Renato takes longest, Pfister leaves gaps that MVCM does not",
     .source = "Ferrer 2012, Figure 8.22"},
    {.id = "R14",
     .text = "at low load the four are alike, at high load Renato and Pfister fall behind",
     .source = "Ferrer 2012, Figures 8.23 and 8.24"},
    {.id = "R19",
     .text =
         "windows with slots are best at high load and as good as windows alone below; slots alone "
         "are worse",
     .source = "Ferrer 2012, Figure 8.31"},
    {.id = "R20",
     .text = "windows alone beat slots alone under every marking",
     .source = "Ferrer 2012, Figure 8.32"},
    {.id = "R21",
     .text = "slots without a cap leave gaps that capped ones do not",
     .source = "Ferrer 2012, Figure 8.33"},
    {.id = "R22",
     .text = "MVCM, even uncapped, drains the pulse sooner and with a lower peak than Pfister",
     .source = "Ferrer 2012, Figures 8.33 and 8.34"},
    {.id = "R23",
     .text = "immediate recovery is no different at low load and better at medium and high",
     .source = "Ferrer 2012, Figure 8.35"},
};

}  // namespace

std::span<const ClaimSpec> hot_spot_claims() { return kClaims; }

}  // namespace smd::sim
