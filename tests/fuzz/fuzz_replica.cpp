// What another manager sends: the frames do not depend on how the bytes were cut, each is laid out
// as it came, and no more is held than one that is not whole.
#include <algorithm>
#include <vector>

#include "smd/replica/link.h"
#include "tests/fuzz/decode_checks.h"

namespace smd::fuzz {
namespace {

struct Read {
  std::vector<replica::Frame> frames;
  bool fine = true;
  std::size_t held = 0;
};

Read read(std::string_view text, std::size_t piece) {
  replica::FrameReader reader;
  Read out;
  for (std::size_t at = 0; out.fine && at < text.size(); at += piece) {
    const std::string_view part = text.substr(at, piece);
    out.fine = reader
                   .feed(std::as_bytes(std::span(part.data(), part.size())),
                         [&](replica::Frame frame) {
                           out.frames.push_back(std::move(frame));
                           return true;
                         })
                   .has_value();
  }
  out.held = reader.held();
  return out;
}

}  // namespace
}  // namespace smd::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const fuzz::Read whole = fuzz::read(text, size);
  const fuzz::Read pieces = fuzz::read(text, 1 + data[size - 1] % 40u);
  fuzz::require(whole.frames == pieces.frames && whole.fine == pieces.fine);

  std::size_t at = 0;
  for (const replica::Frame& frame : whole.frames) {
    std::string again = replica::encode_frame(frame);
    again[7] = text[at + 7];  // reserved
    fuzz::require(text.substr(at, again.size()) == again);
    at += again.size();
    if (auto hello = replica::decode_hello(frame.body))
      fuzz::require(replica::decode_hello(replica::encode_hello(*hello)).value() == *hello);
    if (auto part = replica::decode_part(frame.body))
      fuzz::require(replica::encode_part(*part) == frame.body);
  }
  if (whole.fine) fuzz::require(whole.held == size - at);
  return 0;
}
