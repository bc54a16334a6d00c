// Any bytes as what a site with OpenSM has written down: faults of one line each, or configurations
// that smd takes, and a report of one line for each option. Parts are behind lines of three dashes:
// opensm.conf, flags of the command line, the start file, and the files that options name.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smd/config/opensm_config.h"
#include "tests/fuzz/decode_checks.h"

namespace {

using namespace smd;

/// Every path that ends so.
constexpr std::array<std::string_view, 5> kFiles = {
    "partitions.conf", "qos-policy.conf", "root_guids", "prefix-routes.conf", "ib-node-name-map"};

std::vector<std::string> split_parts(std::string_view text) {
  constexpr std::string_view kMark = "\n---\n";
  std::vector<std::string> parts;
  for (std::size_t at = 0; parts.size() < 3 + kFiles.size();) {
    const std::size_t end = text.find(kMark, at);
    if (end == std::string_view::npos) {
      parts.emplace_back(text.substr(at));
      break;
    }
    parts.emplace_back(text.substr(at, end + 1 - at));
    at = end + kMark.size();
  }
  parts.resize(3 + kFiles.size());
  return parts;
}

bool is_one_line(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> parts = split_parts(std::string(data, data + size));
  OpensmSources sources{.file = "opensm.conf",
                        .text = parts[0],
                        .flags = parts[1],
                        .local_ports = {Guid{0x2c9000000000001}, Guid{0x2c9000000000002}}};
  if (!parts[2].empty()) {
    sources.start_file = "default";
    sources.start_text = parts[2];
  }
  sources.read = [&](const std::string& path) -> std::optional<Parsed<std::string>> {
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
      if (path.ends_with(kFiles[i]) && !parts[3 + i].empty())
        return Parsed<std::string>(parts[3 + i]);
    }
    return std::nullopt;
  };
  const Parsed<OpensmImport> import = import_opensm(sources);
  if (!import) {
    fuzz::require(!import.error().empty());
    for (const Fault& each : import.error()) {
      fuzz::require(is_one_line(each.message) && is_one_line(print_fault(each)));
      fuzz::require(each.line >= 0);
    }
    return 0;
  }
  fuzz::require(!import->configs.empty());
  for (const ImportedConfig& each : import->configs) {
    const Parsed<Config> config = parse_config(each.text, each.name);
    fuzz::require(config.has_value());
    // A name becomes a file in the folder that -o names.
    fuzz::require(!each.name.empty() && each.name.find('/') == std::string::npos);
  }
  for (const OpensmReportLine& line : import->report)
    fuzz::require(is_one_line(print_report_line(line)));
  const Parsed<OpensmImport> again = import_opensm(sources);
  fuzz::require(again.has_value() && again->report == import->report);
  return 0;
}
