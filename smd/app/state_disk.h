// The few things that the state store asks of a file system, so that tests can take the power away
// between any two of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "smd/base/read_file.h"
#include "smd/base/result.h"

namespace smd::app {

/// Names within one directory.
class StateDisk {
 public:
  virtual ~StateDisk() = default;

  /// Nothing when there is no such file.
  virtual Result<std::optional<std::string>> read(const std::string& name) = 0;

  /// A new file, or one in place of what was there; on the disk when this returns.
  virtual Result<void> write(const std::string& name, std::string_view bytes) = 0;

  /// To the end of a file that is there; on the disk when this returns. After a failure a part of
  /// it may be.
  virtual Result<void> append(const std::string& name, std::string_view bytes) = 0;

  /// A second name; in place of what has it.
  virtual Result<void> link(const std::string& from, const std::string& to) = 0;

  /// In one step: whoever looks sees the old file or the new one.
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;

  virtual void remove(const std::string& name) = 0;

  /// Names are on the disk, too, when this returns.
  virtual Result<void> sync_names() = 0;
};

class RealDisk final : public StateDisk {
 public:
  /// The directory is made when something is first written.
  explicit RealDisk(std::string directory) : directory_(std::move(directory)) {}

  Result<std::optional<std::string>> read(const std::string& name) override;
  Result<void> write(const std::string& name, std::string_view bytes) override;
  Result<void> append(const std::string& name, std::string_view bytes) override;
  Result<void> link(const std::string& from, const std::string& to) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  void remove(const std::string& name) override;
  Result<void> sync_names() override;

 private:
  [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }

  std::string directory_;
};

/// Whose state a directory holds: one daemon at a time, or both would write over each other's LIDs.
/// The kernel lets go of it when its process ends, however it ends.
class StateLock {
 public:
  /// Makes the directory if needed. Busy: another process holds it; the context names the directory
  /// and the process. NoPermission, Io: nobody can hold it.
  [[nodiscard]] static Result<StateLock> take(const std::string& directory);

 private:
  explicit StateLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace smd::app
