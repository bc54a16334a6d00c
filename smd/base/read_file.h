// A file that somebody named, whole: every program and the daemon read their inputs through here,
// so that none of them waits for ever, or grows without end, on what was named by mistake.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "smd/base/result.h"

namespace smd {

/// Sizes of inputs, in bytes.
inline constexpr std::size_t kLargestSettings = std::size_t{1} << 20;  // what people write
inline constexpr std::size_t kLargestState = std::size_t{256} << 20;   // what smd and OpenSM keep
inline constexpr std::size_t kLargestFabric = std::size_t{512} << 20;

/// An open file, closed with its owner; below 0 it is none.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

enum class Pipes { Refused, Accepted };

/// A regular file of at most `most` bytes; where pipes are accepted, also one that somebody writes
/// into. Directories, devices and sockets are refused before a byte is read.
/// NoDevice: there is no such file. Malformed: the disk has lost it (EIO). NoPermission, Io: what
/// is wrong, without the path.
[[nodiscard]] Result<std::string> read_file(const std::filesystem::path& path,
                                            std::size_t most,
                                            Pipes pipes = Pipes::Refused);

/// The same judgement of a file that is not read as a whole: a regular file that can be opened.
[[nodiscard]] Result<void> check_regular_file(const std::filesystem::path& path);

}  // namespace smd
