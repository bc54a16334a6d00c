// One talk with another manager: frames over a stream, beats in both directions, and an end when
// the other side says nothing, or nothing that can be understood.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "smd/replica/frame.h"
#include "smd/replica/stream.h"
#include "smd/runtime/runtime.h"

namespace smd::replica {

/// Milliseconds since 1970.
using WallClock = std::function<std::int64_t()>;

struct Pace {
  Duration beat = std::chrono::seconds(1);
  Duration silence = std::chrono::seconds(5);  // whoever says nothing for so long is gone
};

class Link {
 public:
  struct Handlers {
    std::function<void(Frame)> on_frame;  // all but beats; the first is a Hello

    /// Once; nothing follows. The link is not to be destroyed inside either handler.
    std::function<void(const std::string& why)> on_end;
  };

  Link(Runtime& runtime,
       std::unique_ptr<Stream> stream,
       WallClock wall,
       Handlers handlers,
       Pace pace = {});
  Link(const Link&) = delete;

  void send(FrameKind kind, std::string body);

  /// Ends the talk from this side: on_end is called.
  void end(const std::string& why);

  [[nodiscard]] bool ended() const { return ended_; }

  /// The other side took all that was sent.
  [[nodiscard]] bool idle() const { return stream_->waiting() == 0; }

  [[nodiscard]] std::string name() const { return stream_->name(); }

 private:
  void on_bytes(std::span<const std::byte> bytes);
  bool on_frame(Frame frame);
  void beat();

  Runtime& runtime_;
  std::unique_ptr<Stream> stream_;
  WallClock wall_;
  Handlers handlers_;
  Pace pace_;
  FrameReader reader_;
  TimePoint heard_;
  bool greeted_ = false;
  bool ended_ = false;
  Timer beat_;
};

}  // namespace smd::replica
