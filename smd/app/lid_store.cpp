#include "smd/app/lid_store.h"

#include "smd/app/state_file.h"

namespace smd::app {
namespace {

constexpr std::string_view kName = "lids";

}  // namespace

Parsed<LidBook> load_lids(const std::string& state_dir) {
  const auto text = read_state(state_dir, kName);
  if (!text) return tl::unexpected<Faults>(text.error());
  return parse_lid_book(*text, state_path(state_dir, kName));
}

Result<void> save_lids(const std::string& state_dir, const LidBook& book) {
  return write_state(state_dir, kName, print_lid_book(book));
}

}  // namespace smd::app
