// Writes down every Set that a subnet manager sends: preloaded in front of libumad2sim, it appends
// a line to the file that $SMD_UMAD_RECORD names, before the MAD goes out,
//
//   opensm 0x0016 0x00000000 0,1,3 0 00ff…
//
// with the name of the program, attribute, modifier, the ports of the directed route ("-" where it
// goes by LID alone), the LID it goes to first (0 for none) and the 64 bytes of data. Several
// programs may share a file: each line is written at once.
#include <fcntl.h>
#include <infiniband/umad.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <endian.h>
#include <errno.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/cross/umad_shim.h"

namespace {

using smd::shim::beneath;
using smd::shim::mode_of;
using smd::shim::Open;
using smd::shim::Write;

constexpr int kMostFds = 4096;
std::atomic<bool> is_management[kMostFds];

constexpr std::size_t kMad = 256;
constexpr unsigned kByLid = 0x01, kDirected = 0x81, kSet = 0x02;
constexpr std::size_t kDataAt = 64, kDataSize = 64, kPathAt = 128;

unsigned read16(const unsigned char* at) { return at[0] << 8 | at[1]; }

std::string hex(const unsigned char* bytes, std::size_t count) {
  std::string text;
  char digits[3];
  for (std::size_t i = 0; i < count; ++i) {
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += digits;
  }
  return text;
}

void record(const void* data, std::size_t size) {
  const char* path = std::getenv("SMD_UMAD_RECORD");
  if (path == nullptr || size < sizeof(ib_user_mad) + kMad) return;
  const auto* mad = static_cast<const unsigned char*>(data) + sizeof(ib_user_mad);
  if ((mad[1] != kByLid && mad[1] != kDirected) || mad[3] != kSet) return;
  std::string route = "-";
  unsigned lid = be16toh(static_cast<const ib_user_mad*>(data)->addr.lid);
  if (mad[1] == kDirected) {
    route = "0";
    for (unsigned hop = 1; hop <= mad[7]; ++hop) route += "," + std::to_string(mad[kPathAt + hop]);
    if (read16(mad + 32) == 0xffff) lid = 0;  // DrSLID: directed from the start
  }
  const std::string line = std::string(program_invocation_short_name) + " 0x" + hex(mad + 16, 2) +
                           " 0x" + hex(mad + 20, 4) + " " + route + " " + std::to_string(lid) +
                           " " + hex(mad + kDataAt, kDataSize) + "\n";
  const long fd =
      ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  [[maybe_unused]] const long written = ::syscall(SYS_write, fd, line.data(), line.size());
  ::syscall(SYS_close, fd);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  const int fd = beneath<Open>("open")(path, flags, mode);
  if (fd >= 0 && fd < kMostFds)
    is_management[fd] = std::string_view(path).starts_with("/dev/infiniband/umad");
  return fd;
}

ssize_t write(int fd, const void* data, size_t size) {
  if (fd >= 0 && fd < kMostFds && is_management[fd]) record(data, size);
  return beneath<Write>("write")(fd, data, size);
}
}
