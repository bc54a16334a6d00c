#include "smd/ib/rates.h"

#include <algorithm>
#include <array>

namespace smd {
namespace {

struct Rate {
  std::uint8_t code;
  unsigned mbps;  // of the signal, as the code's name says it: "2.5 Gb/s", "100 Gb/s"
};

constexpr std::array<Rate, 22> kRates{
    {{2, 2'500},    {5, 5'000},    {3, 10'000},   {11, 14'000},  {6, 20'000},   {15, 25'000},
     {19, 28'000},  {4, 30'000},   {7, 40'000},   {20, 50'000},  {12, 56'000},  {8, 60'000},
     {9, 80'000},   {16, 100'000}, {13, 112'000}, {10, 120'000}, {14, 168'000}, {17, 200'000},
     {18, 300'000}, {21, 400'000}, {22, 600'000}, {23, 800'000}}};

/// Above the array's last.
constexpr Rate kFastest{24, 1'200'000};

constexpr unsigned lane_rate(LinkSpeed speed) {
  switch (speed) {
    case LinkSpeed::Sdr:
      return 2'500;
    case LinkSpeed::Ddr:
      return 5'000;
    case LinkSpeed::Qdr:
    case LinkSpeed::Fdr10:
      return 10'000;
    case LinkSpeed::Fdr:
      return 14'000;
    case LinkSpeed::Edr:
      return 25'000;
    case LinkSpeed::Hdr:
      return 50'000;
    case LinkSpeed::Ndr:
      return 100'000;
    case LinkSpeed::Xdr:
      return 200'000;
    case LinkSpeed::None:
      break;
  }
  return 0;
}

constexpr std::size_t kWidths = 32;  // codes of widths are below
constexpr std::size_t kSpeeds = static_cast<std::size_t>(LinkSpeed::Xdr) + 1;

using Orders = std::array<std::array<std::uint8_t, kSpeeds>, kWidths>;

Orders make_orders() {
  Orders orders{};
  for (std::size_t width = 0; width < kWidths; ++width) {
    for (std::size_t speed = 0; speed < kSpeeds; ++speed) {
      orders[width][speed] = static_cast<std::uint8_t>(
          rate_order(rate_code(static_cast<LinkWidth>(width), static_cast<LinkSpeed>(speed))));
    }
  }
  return orders;
}

}  // namespace

std::uint8_t rate_code(LinkWidth width, LinkSpeed speed) {
  const unsigned mbps = lanes(width) * lane_rate(speed);
  if (mbps >= kFastest.mbps) return kFastest.code;
  std::uint8_t code = 0;
  for (const Rate& rate : kRates) {
    if (rate.mbps <= mbps) code = rate.code;
  }
  return code;
}

unsigned rate_order(std::uint8_t code) {
  if (code == kFastest.code) return kRates.size() + 1;
  const auto found = std::ranges::find(kRates, code, &Rate::code);
  return found == kRates.end() ? 0 : static_cast<unsigned>(found - kRates.begin()) + 1;
}

unsigned link_rate_order(LinkWidth width, LinkSpeed speed) {
  static const Orders orders = make_orders();
  return orders[static_cast<std::size_t>(width)][static_cast<std::size_t>(speed)];
}

std::uint8_t rate_at(unsigned order) {
  if (order == 0) return 0;
  return order <= kRates.size() ? kRates[order - 1].code : kFastest.code;
}

unsigned rate_mbps(std::uint8_t code) {
  if (code == kFastest.code) return kFastest.mbps;
  const auto found = std::ranges::find(kRates, code, &Rate::code);
  return found == kRates.end() ? 0 : found->mbps;
}

std::uint8_t rate_of_mbps(unsigned mbps) {
  if (mbps == kFastest.mbps) return kFastest.code;
  const auto found = std::ranges::find(kRates, mbps, &Rate::mbps);
  return found == kRates.end() ? std::uint8_t{0} : found->code;
}

std::uint8_t rate_below(std::uint8_t code) {
  const unsigned order = rate_order(code);
  return order < 2 ? std::uint8_t{0} : rate_at(order - 1);
}

}  // namespace smd
