#include "smd/replica/link.h"

#include <fmt/core.h>

#include <utility>

namespace smd::replica {

Link::Link(
    Runtime& runtime, std::unique_ptr<Stream> stream, WallClock wall, Handlers handlers, Pace pace)
    : runtime_(runtime),
      stream_(std::move(stream)),
      wall_(std::move(wall)),
      handlers_(std::move(handlers)),
      pace_(pace),
      heard_(runtime.now()) {
  stream_->start({.on_bytes = [this](std::span<const std::byte> bytes) { on_bytes(bytes); },
                  .on_end = [this](const std::string& why) { end(why); }});
  beat_ = Timer(runtime_, runtime_.now() + pace_.beat, [this] { beat(); });
}

void Link::send(FrameKind kind, std::string body) {
  if (ended_) return;
  stream_->send(encode_frame({.kind = kind, .wall_ms = wall_(), .body = std::move(body)}));
}

void Link::end(const std::string& why) {
  if (std::exchange(ended_, true)) return;
  beat_.reset();
  stream_->close();
  handlers_.on_end(why);
}

void Link::on_bytes(std::span<const std::byte> bytes) {
  heard_ = runtime_.now();
  const auto fed = reader_.feed(bytes, [this](Frame frame) { return on_frame(std::move(frame)); });
  if (!fed && !ended_) end(fed.error().context);
}

bool Link::on_frame(Frame frame) {
  if (!greeted_ && frame.kind != FrameKind::Hello) {
    end("it does not say who it is");
    return false;
  }
  greeted_ = true;
  if (frame.kind != FrameKind::Beat) handlers_.on_frame(std::move(frame));
  return !ended_;
}

void Link::beat() {
  if (runtime_.now() - heard_ >= pace_.silence) {
    return end(
        fmt::format("it said nothing for {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(pace_.silence).count()));
  }
  // One that does not read what waits gets nothing on top of it.
  if (idle()) send(FrameKind::Beat, {});
  beat_ = Timer(runtime_, runtime_.now() + pace_.beat, [this] { beat(); });
}

}  // namespace smd::replica
