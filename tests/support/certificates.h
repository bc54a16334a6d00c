// Certificates for tests: an authority and what it signs, in PEM files.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace smd::test {

class Authority {
 public:
  explicit Authority(const std::string& name);
  ~Authority();
  Authority(const Authority&) = delete;

  void write_certificate(const std::filesystem::path& file) const;

  /// A certificate for `name` and its key, good for `days` from now on; expired where that is
  /// negative.
  void issue(const std::string& name,
             const std::filesystem::path& certificate,
             const std::filesystem::path& key,
             int days = 30) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace smd::test
