// A site of tests/golden/import-opensm on a fabric of ibsim: its files in a scratch folder, with
// the GUIDs of the fabric in them, Debian's opensm with those files and flags, smd with what `smd
// import-opensm` makes of them, and every register and PathRecord there as register_dump shows it.
#pragma once

#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/cross/smd_on_ibsim.h"
#include "tests/support/files.h"

namespace smd::test {

struct SiteOnFabric {
  std::string name;  // of its folder
  std::string fabric;
  std::vector<std::pair<std::string, std::string>> replaced;  // GUIDs, and what else must differ
  std::string start;                                          // the file that starts OpenSM
  std::string m_key = "0";
  /// Its files are where OpenSM looks unasked: the folder is mounted over /etc/opensm, for opensm
  /// and for the import alone.
  bool at_default_places = false;

  friend void PrintTo(const SiteOnFabric& site, std::ostream* out) { *out << site.name; }
};

[[nodiscard]] SiteOnFabric hpc_updn_site();

/// What keeps opensm from running on ibsim, or from managing, is at its default; so is
/// keep_pkey_indexes, without which 3.3.23 gives nobody a path (ERR 1F1B).
[[nodiscard]] SiteOnFabric every_option_site();

/// "S-0002000000000000 3 PortInfo HoqLife" -> "18"; of PathRecords "HOST: S-… H-… Path[any] sl".
using RegisterFields = std::map<std::string, std::string>;

class ImportedSite {
 public:
  explicit ImportedSite(SiteOnFabric site);

  [[nodiscard]] const std::filesystem::path& folder() const { return scratch_.path(); }

  [[nodiscard]] const std::filesystem::path& net() const { return net_; }

  /// opensm on the first adapter, behind further libraries.
  [[nodiscard]] ProcessOptions opensm(const Ibsim& ibsim, const std::string& preload = "") const;

  /// Whether it was up, with tables, so many times.
  [[nodiscard]] bool opensm_was_up(int times) const;

  [[nodiscard]] std::string opensm_log() const { return read_text(folder() / "osm.log"); }

  /// Imports, into smd.toml with the state directory, socket and log in the folder, and the LIDs
  /// that opensm wrote down; the report. `smd check-config` finds each file good. Empty when that
  /// fails.
  [[nodiscard]] std::string import();

  [[nodiscard]] ProcessOptions smd(const Ibsim& ibsim,
                                   const std::string& host,
                                   const std::string& preload = "") const;

  /// Every register.
  [[nodiscard]] RegisterFields registers(const Ibsim& ibsim) const;

  /// And PathRecords as every adapter but the first gets them.
  [[nodiscard]] RegisterFields dump(const Ibsim& ibsim) const;

 private:
  [[nodiscard]] std::string ask(const Ibsim& ibsim,
                                const std::string& host,
                                const std::string& what) const;
  void put(const std::string& name, std::string text) const;
  [[nodiscard]] std::string with_own_files(std::string text) const;
  [[nodiscard]] std::vector<std::string> at_home(std::vector<std::string> argv) const;

  SiteOnFabric site_;
  Scratch scratch_;
  std::filesystem::path net_;
  std::string flags_;  // of OpenSM's command line
};

}  // namespace smd::test
