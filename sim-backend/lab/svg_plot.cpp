#include "sim-backend/lab/svg_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::sim {
namespace {

constexpr double kWidth = 760;
constexpr double kHeight = 480;
constexpr double kLeft = 90;
constexpr double kRight = 200;  // the legend
constexpr double kTop = 40;
constexpr double kBottom = 60;
constexpr std::array<const char*, 8> kColours = {
    "#1b6ca8", "#c8553d", "#3a7d44", "#8e5ea2", "#b08900", "#3d8b8b", "#a23b72", "#555555"};

std::string escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

/// One axis: values to places, and where its ticks are.
class Axis {
 public:
  Axis(bool log, double from, double to) : log_(log), from_(from), to_(to) {}

  [[nodiscard]] bool shows(double value) const {
    return std::isfinite(value) && (!log_ || value > 0);
  }

  void include(double value) {
    if (!shows(value)) return;
    const double v = log_ ? std::log10(value) : value;
    low_ = empty_ ? v : std::min(low_, v);
    high_ = empty_ ? v : std::max(high_, v);
    empty_ = false;
  }

  void finish() {
    if (log_) {
      low_ = std::floor(low_);
      high_ = std::max(std::ceil(high_), low_ + 1);
      return;
    }
    low_ = std::min(low_, 0.0);
    if (high_ <= low_) high_ = low_ + 1;
    const double rough = (high_ - low_) / 6;
    const double decade = std::pow(10, std::floor(std::log10(rough)));
    step_ = decade;
    for (const double nice : {1.0, 2.0, 5.0, 10.0}) {
      step_ = nice * decade;
      if (step_ >= rough) break;
    }
    low_ = std::floor(low_ / step_) * step_;
    high_ = std::ceil(high_ / step_) * step_;
  }

  [[nodiscard]] double place(double value) const {
    const double v = log_ ? std::log10(value) : value;
    return from_ + (to_ - from_) * (v - low_) / (high_ - low_);
  }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    const double count = std::round((high_ - low_) / step_);
    for (double i = 0; i <= count; ++i) {
      const double v = low_ + i * step_;
      out.push_back(log_ ? std::pow(10, v) : v);
    }
    return out;
  }

 private:
  bool log_;
  double from_, to_;
  double low_ = 0, high_ = 0, step_ = 1;
  bool empty_ = true;
};

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, escape(text));
}

std::string line(double x1, double y1, double x2, double y2, const char* colour) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n",
      x1,
      y1,
      x2,
      y2,
      colour);
}

std::string frame(const Plot& plot, const Axis& x, const Axis& y) {
  const double right = kWidth - kRight;
  const double floor = kHeight - kBottom;
  std::string out;
  for (const double tick : x.ticks()) {
    out += line(x.place(tick), kTop, x.place(tick), floor, "#dddddd");
    out += text_at(x.place(tick), floor + 18, "middle", fmt::format("{:.6g}", tick));
  }
  for (const double tick : y.ticks()) {
    out += line(kLeft, y.place(tick), right, y.place(tick), "#dddddd");
    out += text_at(kLeft - 6, y.place(tick) + 4, "end", fmt::format("{:.6g}", tick));
  }
  out += line(kLeft, floor, right, floor, "#000000") + line(kLeft, kTop, kLeft, floor, "#000000");
  out += text_at((kLeft + right) / 2, 22, "middle", plot.title);
  out += text_at((kLeft + right) / 2, kHeight - 16, "middle", plot.x_label);
  out += fmt::format(
      "<text transform=\"translate(20,{:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      (kTop + floor) / 2,
      escape(plot.y_label));
  return out;
}

}  // namespace

std::string print_svg(const Plot& plot) {
  Axis x(plot.log_x, kLeft, kWidth - kRight);
  Axis y(plot.log_y, kHeight - kBottom, kTop);
  for (const Series& series : plot.series) {
    for (const auto& [px, py] : series.points) {
      if (!x.shows(px) || !y.shows(py)) continue;
      x.include(px);
      y.include(py);
    }
  }
  x.finish();
  y.finish();
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
      kWidth,
      kHeight);
  out += frame(plot, x, y);
  for (std::size_t s = 0; s < plot.series.size(); ++s) {
    const char* colour = kColours[s % kColours.size()];
    const char* dash = s / kColours.size() % 2 == 0 ? "none" : "6 3";
    std::string points;
    std::string dots;
    for (const auto& [px, py] : plot.series[s].points) {
      if (!x.shows(px) || !y.shows(py)) continue;
      points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", x.place(px), y.place(py));
      dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n",
                          x.place(px),
                          y.place(py),
                          colour);
    }
    out += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
        "stroke-dasharray=\"{}\"/>\n",
        points,
        colour,
        dash);
    const double at = kTop + 14 + 20 * static_cast<double>(s);
    const double left = kWidth - kRight + 12;
    out += dots + line(left, at - 4, left + 20, at - 4, colour);
    out += text_at(left + 26, at, "start", plot.series[s].name);
  }
  return out + "</svg>\n";
}

}  // namespace smd::sim
