#include "sim-backend/bin/result_files.h"

#include <algorithm>

#include "sim-backend/bin/whole_file.h"
#include "smd/base/read_file.h"

namespace smd::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestPart = std::size_t{1} << 30;

fs::path parts_of(const fs::path& folder) { return folder / "parts"; }

Parsed<NamedPart> read_one(const fs::path& file) {
  const Result<std::string> text = read_file(file, kLargestPart);
  if (!text) return tl::unexpected(Faults{{file.string(), 0, text.error().context}});
  Parsed<Part> part = parse_part(*text, file.string());
  if (!part) return tl::unexpected(part.error());
  return NamedPart{file.string(), std::move(*part)};
}

}  // namespace

bool write_part(const fs::path& folder, const Part& part) {
  return make_folder(parts_of(folder)) &&
         write_file(parts_of(folder) / part_name(part.key), print_part(part));
}

std::optional<Part> find_part(const fs::path& folder, const Part& wanted) {
  const Parsed<NamedPart> found = read_one(parts_of(folder) / part_name(wanted.key));
  if (!found || found->part.program != wanted.program || found->part.scenario != wanted.scenario ||
      found->part.key != wanted.key || found->part.plan.loads != wanted.plan.loads) {
    return std::nullopt;
  }
  Part part = found->part;
  part.plan = wanted.plan;
  return part;
}

Parsed<std::vector<NamedPart>> read_parts(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parts_of(folder), error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  if (files.empty()) {
    return tl::unexpected(Faults{
        {folder.string(), 0, "has no parts/*.json; name a folder that smsim run --out made"}});
  }
  std::ranges::sort(files);
  std::vector<NamedPart> out;
  Faults faults;
  for (const fs::path& file : files) {
    Parsed<NamedPart> part = read_one(file);
    if (part) {
      out.push_back(std::move(*part));
    } else {
      std::ranges::move(part.error(), std::back_inserter(faults));
    }
  }
  if (!faults.empty()) return tl::unexpected(std::move(faults));
  return out;
}

bool write_result(const fs::path& folder, const JoinedResult& result) {
  return make_folder(folder) && write_file(folder / "result.json", result.json) &&
         write_file(folder / "result.csv", result.points_csv) &&
         write_file(folder / "series.csv", result.series_csv) &&
         (result.periods_csv.empty() || write_file(folder / "stretches.csv", result.periods_csv)) &&
         write_file(folder / "plot.svg", result.svg);
}

}  // namespace smd::sim
