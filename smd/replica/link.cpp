#include "smd/replica/link.h"

#include <fmt/core.h>
#include <array>
#include <boost/crc.hpp>
#include <utility>

#include "smd/base/bytes.h"
#include "smd/base/check.h"

namespace smd::replica {
namespace {

constexpr std::size_t kHelloSize = 24;
constexpr std::size_t kLongestName = 32;

std::uint32_t checksum(std::string_view text) {
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

ByteReader reader_of(std::string_view text) {
  return ByteReader(std::as_bytes(std::span(text.data(), text.size())));
}

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint8_t kind;
  std::int64_t wall_ms;
  std::uint32_t length;
  std::uint32_t crc;
};

/// Requires: kHeaderSize bytes.
Header decode_header(std::string_view text) {
  ByteReader in = reader_of(text);
  Header header{.magic = in.u32(), .version = in.u16(), .kind = in.u8()};
  in.skip(1);
  header.wall_ms = static_cast<std::int64_t>(in.u64());
  header.length = in.u32();
  header.crc = in.u32();
  return header;
}

template <std::size_t N>
std::string text_of(const std::array<std::byte, N>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::string encode_frame(const Frame& frame) {
  SMD_CHECK(frame.body.size() <= kLargestBody, "a frame that no peer would take");
  std::array<std::byte, kHeaderSize> header{};
  ByteWriter out(header);
  out.u32(kMagic);
  out.u16(kVersion);
  out.u8(static_cast<std::uint8_t>(frame.kind));
  out.u8(0);
  out.u64(static_cast<std::uint64_t>(frame.wall_ms));
  out.u32(static_cast<std::uint32_t>(frame.body.size()));
  out.u32(checksum(frame.body));
  return text_of(header) + frame.body;
}

std::string encode_hello(const Hello& hello) {
  std::array<std::byte, kHelloSize> body{};
  ByteWriter out(body);
  out.u64(hello.manager.value());
  out.u64(hello.subnet_prefix);
  out.u8(static_cast<std::uint8_t>(hello.state));
  return text_of(body);
}

Result<Hello> decode_hello(std::string_view body) {
  ByteReader in = reader_of(body);
  Hello hello{.manager = Guid{in.u64()}};
  hello.subnet_prefix = in.u64();
  const std::uint8_t state = in.u8();
  if (body.size() != kHelloSize || state > static_cast<std::uint8_t>(SmState::Master))
    return fail(Errc::Malformed, fmt::format("a Hello of {} bytes, state {}", body.size(), state));
  hello.state = static_cast<SmState>(state);
  return hello;
}

std::string encode_part(const Part& part) { return part.name + "\n" + part.text; }

Result<Part> decode_part(std::string body) {
  const std::size_t end = body.find('\n');
  if (end == 0 || end > kLongestName)
    return fail(Errc::Malformed, "a part of the state without a name");
  Part part{.name = body.substr(0, end)};
  body.erase(0, end + 1);
  part.text = std::move(body);
  return part;
}

Result<void> FrameReader::check_header() const {
  // Whatever else speaks here is known by its first bytes.
  if (in_.size() < kHeaderSize) {
    constexpr std::array<char, 4> magic{'S', 'M', 'D', 'R'};
    const std::size_t seen = std::min(in_.size(), magic.size());
    if (std::string_view(in_).substr(0, seen) != std::string_view(magic.data(), seen))
      return fail(Errc::Malformed, "no manager speaks there");
    return {};
  }
  const Header header = decode_header(in_);
  if (header.magic != kMagic) return fail(Errc::Malformed, "no manager speaks there");
  if (header.version != kVersion) {
    return fail(Errc::Malformed,
                fmt::format("it speaks version {}, we speak {}; run the same smd on both",
                            header.version,
                            kVersion));
  }
  if (header.kind < static_cast<std::uint8_t>(FrameKind::Hello) ||
      header.kind > static_cast<std::uint8_t>(FrameKind::Changes))
    return fail(Errc::Malformed, fmt::format("a frame of kind {}", header.kind));
  if (header.length > kLargestBody) {
    return fail(Errc::Malformed,
                fmt::format("a frame of {} bytes; {} are the most", header.length, kLargestBody));
  }
  return {};
}

Result<void> FrameReader::feed(std::span<const std::byte> bytes,
                               const std::function<bool(Frame)>& on_frame) {
  in_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (true) {
    if (auto fine = check_header(); !fine) return fine;
    if (in_.size() < kHeaderSize) return {};
    const Header header = decode_header(in_);
    if (in_.size() < kHeaderSize + header.length) return {};
    Frame frame{.kind = static_cast<FrameKind>(header.kind),
                .wall_ms = header.wall_ms,
                .body = in_.substr(kHeaderSize, header.length)};
    in_.erase(0, kHeaderSize + header.length);
    if (checksum(frame.body) != header.crc)
      return fail(Errc::Malformed, "a frame is not as it was sent: its checksum is another");
    if (!on_frame(std::move(frame))) return {};
  }
}

Link::Link(Runtime& runtime,
           std::unique_ptr<Stream> stream,
           WallClock wall,
           Handlers handlers,
           HeartbeatTiming timing)
    : runtime_(runtime),
      stream_(std::move(stream)),
      wall_(std::move(wall)),
      handlers_(std::move(handlers)),
      timing_(timing),
      heard_(runtime.now()) {
  stream_->start({.on_bytes = [this](std::span<const std::byte> bytes) { on_bytes(bytes); },
                  .on_end = [this](const std::string& why) { end(why); }});
  heartbeat_ = Timer(runtime_, runtime_.now() + timing_.heartbeat, [this] { heartbeat(); });
}

void Link::send(FrameKind kind, std::string body) {
  if (ended_) return;
  stream_->send(encode_frame({.kind = kind, .wall_ms = wall_(), .body = std::move(body)}));
}

void Link::end(const std::string& why) {
  if (std::exchange(ended_, true)) return;
  heartbeat_.reset();
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
  if (frame.kind != FrameKind::Heartbeat) handlers_.on_frame(std::move(frame));
  return !ended_;
}

void Link::heartbeat() {
  if (runtime_.now() - heard_ >= timing_.silence) {
    return end(
        fmt::format("it said nothing for {} s",
                    std::chrono::duration_cast<std::chrono::seconds>(timing_.silence).count()));
  }
  // One that does not read what waits gets nothing on top of it.
  if (idle()) send(FrameKind::Heartbeat, {});
  heartbeat_ = Timer(runtime_, runtime_.now() + timing_.heartbeat, [this] { heartbeat(); });
}

}  // namespace smd::replica
