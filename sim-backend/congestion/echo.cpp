#include "sim-backend/congestion/echo.h"

namespace smd::sim {
namespace {

class Answer final : public Echo {
 public:
  Answer(bool every, std::uint16_t payload, ReplySl sl)
      : every_(every), payload_(payload), sl_(std::move(sl)) {}

  std::optional<Feedback> on_data(const Flow& flow, Marks marks) override {
    if (!every_ && marks == 0) return std::nullopt;
    return Feedback{.marks = marks,
                    .acknowledges = every_,
                    .payload = payload_,
                    .sl = sl_ ? sl_(flow.destination, flow.source) : flow.sl};
  }

 private:
  bool every_;
  std::uint16_t payload_;
  ReplySl sl_;
};

}  // namespace

std::unique_ptr<Echo> acknowledge(std::uint16_t payload, ReplySl sl) {
  return std::make_unique<Answer>(true, payload, std::move(sl));
}

std::unique_ptr<Echo> notify(std::uint16_t payload, ReplySl sl) {
  return std::make_unique<Answer>(false, payload, std::move(sl));
}

}  // namespace smd::sim
