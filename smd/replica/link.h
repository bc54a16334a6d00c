// Frames between managers: their bytes (docs/formats/replica.md), and one connection that carries
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "smd/base/result.h"
#include "smd/mad/node_info.h"
#include "smd/replica/stream.h"
#include "smd/runtime/runtime.h"

namespace smd::replica {

// What managers say to each other about the state that they keep (docs/formats/replica.md).
//
// A frame is a header of 24 bytes, integers in network order, and its body. The first that a peer
// sends is a Hello; what does not begin with the magic, or is of another version, ends the
// connection.

inline constexpr std::uint32_t kMagic = 0x534d4452;  // "SMDR"
inline constexpr std::uint16_t kVersion = 5;
inline constexpr std::size_t kHeaderSize = 24;

/// Of state in one frame; more of it goes in several, one after the other.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// Of a body: a piece and its name.
inline constexpr std::size_t kLargestBody = kPieceBytes + 64;

/// Of one kind of state in all its pieces: what a reader keeps of it.
inline constexpr std::size_t kLargestState = std::size_t{1} << 30;

enum class FrameKind : std::uint8_t {
  Hello = 1,      // who speaks
  Part = 2,       // one kind of state, whole, or the last piece of it
  Heartbeat = 3,  // I am here
  Taken = 4,      // the frame with the part of this name is mine now
  Piece = 5,      // of the part or the changes of this name; more follows
  Changes = 6,    // of the part of this name, or the last piece of them
};

struct Frame {
  FrameKind kind = FrameKind::Heartbeat;
  std::int64_t wall_ms = 0;  // since 1970, by the sender's clock
  std::string body;

  friend bool operator==(const Frame&, const Frame&) = default;
};

/// Requires: a body of at most kLargestBody.
[[nodiscard]] std::string encode_frame(const Frame& frame);

struct Hello {
  Guid manager;  // of its port
  SmState state = SmState::NotActive;
  std::uint64_t subnet_prefix = 0;

  friend bool operator==(const Hello&, const Hello&) = default;
};

[[nodiscard]] std::string encode_hello(const Hello& hello);
[[nodiscard]] Result<Hello> decode_hello(std::string_view body);

/// State of one kind, as its file has it (smd/state/state_files.h), or what changed of it.
struct Part {
  std::string name;  // no line feed in it
  std::string text;

  friend bool operator==(const Part&, const Part&) = default;
};

[[nodiscard]] std::string encode_part(const Part& part);
[[nodiscard]] Result<Part> decode_part(std::string body);

/// Bytes in, frames out. Holds less than one frame.
class FrameReader {
 public:
  /// Calls `on_frame` for each frame that is whole, until it returns false. An error is final: what
  /// follows is not looked at.
  Result<void> feed(std::span<const std::byte> bytes, const std::function<bool(Frame)>& on_frame);

  [[nodiscard]] std::size_t held() const { return in_.size(); }

 private:
  [[nodiscard]] Result<void> check_header() const;

  std::string in_;
};

// One connection with another manager: frames over a stream, heartbeats in both directions, and an
// end when the other side says nothing, or nothing that can be understood.

/// Milliseconds since 1970.
using WallClock = std::function<std::int64_t()>;

struct HeartbeatTiming {
  Duration heartbeat = std::chrono::seconds(1);
  Duration silence = std::chrono::seconds(5);  // whoever says nothing for so long is gone
};

class Link {
 public:
  struct Handlers {
    std::function<void(Frame)> on_frame;  // all but heartbeats; the first is a Hello

    /// Once; nothing follows. The link is not to be destroyed inside either handler.
    std::function<void(const std::string& why)> on_end;
  };

  Link(Runtime& runtime,
       std::unique_ptr<Stream> stream,
       WallClock wall,
       Handlers handlers,
       HeartbeatTiming timing = {});
  Link(const Link&) = delete;

  void send(FrameKind kind, std::string body);

  /// Ends the connection from this side: on_end is called.
  void end(const std::string& why);

  [[nodiscard]] bool ended() const { return ended_; }

  /// The other side took all that was sent.
  [[nodiscard]] bool idle() const { return stream_->waiting() == 0; }

  [[nodiscard]] std::string name() const { return stream_->name(); }

 private:
  void on_bytes(std::span<const std::byte> bytes);
  bool on_frame(Frame frame);
  void heartbeat();

  Runtime& runtime_;
  std::unique_ptr<Stream> stream_;
  WallClock wall_;
  Handlers handlers_;
  HeartbeatTiming timing_;
  FrameReader reader_;
  TimePoint heard_;
  bool greeted_ = false;
  bool ended_ = false;
  Timer heartbeat_;
};

}  // namespace smd::replica
